import { expect, test } from '@jest/globals';
import { createTurns, type EndTurn, type TurnOptions } from '../src/index.ts';

const open = (options: Partial<TurnOptions> = {}) =>
  createTurns({
    ...{ total: 10, perLane: 10, perCaller: 10, maxWaiting: 100, maxWaitMs: 60_000, busy: () => new Error('Busy') },
    ...options,
  });

/** Takes turns in this order, `lane/caller` each. Each turn is noted when it begins, and the test ends it. */
function takeAll(turns: ReturnType<typeof open>, takers: readonly string[]) {
  const begun: { who: string; end: EndTurn }[] = [];
  for (const who of takers) {
    const [lane = '', caller = ''] = who.split('/');
    const noted = turns.take({ lane, caller }).then((end) => begun.push({ who, end }));
    noted.catch(() => {}); // Some tests end while somebody waits.
  }
  return begun;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const names = (begun: readonly { who: string }[]) => begun.map(({ who }) => who);

test('lanes have their turns in rotation, however many wait in one of them', async () => {
  const turns = open({ total: 1 });
  const begun = takeAll(turns, ['a/1', 'a/2', 'a/3', 'a/4', 'b/1', 'c/1', 'b/2']);
  for (let n = 0; n < 7; n++) {
    await settled();
    expect(begun).toHaveLength(n + 1);
    begun[n]?.end();
  }
  expect(names(begun)).toEqual(['a/1', 'b/1', 'c/1', 'a/2', 'b/2', 'a/3', 'a/4']);
  expect([turns.running, turns.waiting]).toEqual([0, 0]);
});

test('a lane, and a caller in it, have as many turns at once as they may; those behind them go first', async () => {
  const turns = open({ total: 3, perLane: 2, perCaller: 1 });
  const begun = takeAll(turns, ['a/1', 'a/1', 'a/1', 'a/2', 'a/3', 'b/1', 'c/1']);
  await settled();
  expect(names(begun)).toEqual(['a/1', 'a/2', 'b/1']);
  begun[1]?.end();
  begun[1]?.end(); // It counts once.
  await settled();
  expect(names(begun).slice(3)).toEqual(['c/1']);
  begun[2]?.end();
  await settled();
  expect(names(begun).slice(4)).toEqual(['a/3']);
});

test('who finds the lane full, or waits too long, is refused, and leaves nothing behind', async () => {
  const turns = open({ perLane: 1, maxWaiting: 1, maxWaitMs: 20 });
  const end = await turns.take({ lane: 'a', caller: '1' });
  const late = turns.take({ lane: 'a', caller: '1' });
  await expect(turns.take({ lane: 'a', caller: '2' })).rejects.toThrow('Busy');
  await expect(late).rejects.toThrow('Busy');
  expect([turns.running, turns.waiting]).toEqual([1, 0]);
  (await turns.take({ lane: 'b', caller: '1' }))();
  end();
  (await turns.take({ lane: 'a', caller: '2' }))();
  expect(turns.running).toBe(0);
});

test('who finds the lane full is refused after a while, unless it leaves before', async () => {
  const turns = open({ perLane: 1, maxWaiting: 0, refuseAfterMs: 40 });
  const end = await turns.take({ lane: 'a', caller: '1' });
  const leaving = new AbortController();
  const left = turns.take({ lane: 'a', caller: '1' }, leaving.signal);
  const began = performance.now();
  const refused = turns.take({ lane: 'a', caller: '1' });
  leaving.abort(new Error('Left'));
  await expect(left).rejects.toThrow('Left');
  await expect(refused).rejects.toThrow('Busy');
  expect(performance.now() - began).toBeGreaterThanOrEqual(39); // A timer may be a fraction of a millisecond early.
  end();
});

test('who leaves while waiting has no turn', async () => {
  const turns = open({ total: 1 });
  const end = await turns.take({ lane: 'a', caller: '1' });
  const leaving = new AbortController();
  const left = turns.take({ lane: 'b', caller: '1' }, leaving.signal);
  const next = turns.take({ lane: 'c', caller: '1' });
  leaving.abort(new Error('Left'));
  await expect(left).rejects.toThrow('Left');
  await expect(turns.take({ lane: 'd', caller: '1' }, leaving.signal)).rejects.toThrow('Left');
  end();
  (await next)();
  expect([turns.running, turns.waiting]).toEqual([0, 0]);
});

test('a turn that is free is taken at once; one that is not has to be waited for', async () => {
  const turns = open({ total: 3, perLane: 2, perCaller: 1 });
  const first = turns.tryTake({ lane: 'a', caller: '1' });
  expect(turns.tryTake({ lane: 'a', caller: '1' })).toBeUndefined();
  const next = turns.take({ lane: 'a', caller: '1' });
  const second = turns.tryTake({ lane: 'a', caller: '2' });
  expect(second).toBeDefined();
  expect(turns.tryTake({ lane: 'a', caller: '3' })).toBeUndefined();
  expect(turns.tryTake({ lane: 'b', caller: '1' })).toBeDefined();
  expect(turns.tryTake({ lane: 'c', caller: '1' })).toBeUndefined();
  expect([turns.running, turns.waiting]).toEqual([3, 1]);
  first?.();
  first?.(); // It counts once.
  await next;
  expect([turns.running, turns.waiting]).toEqual([3, 0]);
});

test('a lane with more waiting than turns rests after each, while others are active; alone it does not', async () => {
  const turns = open({ perLane: 1, rest: { times: 3, leastMs: 60_000, mostMs: 60_000 } });
  const begun = takeAll(turns, ['a/1', 'a/2', 'a/3']);
  await settled();
  begun[0]?.end();
  await settled();
  expect(names(begun)).toEqual(['a/1', 'a/2']);
  turns.tryTake({ lane: 'b', caller: '1' })?.();
  begun[1]?.end();
  await settled();
  expect(names(begun)).toEqual(['a/1', 'a/2']);
  expect([turns.running, turns.waiting]).toEqual([0, 1]);
  expect(turns.tryTake({ lane: 'b', caller: '1' })).toBeDefined();
});

test('where a lane rests also if it is alone, it does so while others of it wait', async () => {
  const turns = open({ perLane: 1, rest: { times: 3, leastMs: 60_000, mostMs: 60_000, alone: true } });
  const begun = takeAll(turns, ['a/1', 'a/2']);
  await settled();
  begun[0]?.end();
  await settled();
  expect(names(begun)).toEqual(['a/1']);
  const alone = takeAll(turns, ['b/1']);
  await settled();
  alone[0]?.end();
  expect(turns.tryTake({ lane: 'b', caller: '1' })).toBeDefined();
});

test('a lane rests longer after a turn that failed, while others of it wait', async () => {
  const turns = open({ perLane: 1, rest: { times: 0, leastMs: 0, failedMs: 60_000, mostMs: 60_000, alone: true } });
  const begun = takeAll(turns, ['a/1', 'a/2', 'a/3']);
  await settled();
  begun[0]?.end();
  await settled();
  expect(names(begun)).toEqual(['a/1', 'a/2']);
  begun[1]?.end(0, true);
  await settled();
  expect(names(begun)).toEqual(['a/1', 'a/2']);
  const alone = takeAll(turns, ['b/1', 'b/2']);
  await settled();
  turns.tryTake({ lane: 'c', caller: '1' })?.(0, true); // Nobody of it waits.
  expect(turns.tryTake({ lane: 'c', caller: '1' })).toBeDefined();
  alone[0]?.end();
  await settled();
  expect(names(alone)).toEqual(['b/1', 'b/2']);
});

test('a lane rests for the bytes of a turn also if none of it waits, while others are active', async () => {
  const turns = open({ perLane: 1, rest: { times: 0, leastMs: 0, mostMs: 0, msPerByte: 60_000 } });
  turns.tryTake({ lane: 'a', caller: '1' })?.(1); // Nobody else is active.
  turns.tryTake({ lane: 'a', caller: '1' })?.();
  turns.tryTake({ lane: 'b', caller: '1' })?.();
  turns.tryTake({ lane: 'a', caller: '1' })?.(); // It has no bytes.
  turns.tryTake({ lane: 'a', caller: '1' })?.(1);
  expect(turns.tryTake({ lane: 'a', caller: '1' })).toBeUndefined();
  expect(turns.tryTake({ lane: 'c', caller: '1' })).toBeDefined();
});

test('a rest ends, and what it keeps is no turn of all lanes', async () => {
  const turns = open({ total: 1, perLane: 1, rest: { times: 0, leastMs: 1, mostMs: 1 } });
  const begun = takeAll(turns, ['a/1', 'a/2', 'b/1']);
  await settled();
  begun[0]?.end();
  await settled();
  expect(names(begun)).toEqual(['a/1', 'b/1']);
  begun[1]?.end();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(names(begun)).toEqual(['a/1', 'b/1', 'a/2']);
});
