import { eventually } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createFairQueue, partyShare } from '../src/passwords/fair-queue.ts';

interface Asked {
  readonly parties: readonly string[];
  state: 'waiting' | 'running' | 'done' | 'refused';
  finish(): Promise<void>;
}

/** A queue whose tasks end when the test says so. */
function openQueue({ threads = 1, maxWaitMs = 1e9 } = {}) {
  const queue = createFairQueue({ threads, maxWaitMs, tooBusy: () => new Error('busy') });
  const tasks: Asked[] = [];
  return {
    tasks,
    queue,
    ask(...parties: string[]): Asked {
      const done = Promise.withResolvers<void>();
      const task: Asked = { parties, state: 'waiting', finish: async () => {} };
      const ended = queue
        .run(parties, () => {
          task.state = 'running';
          return done.promise;
        })
        .then(
          () => {
            task.state = 'done';
          },
          () => {
            task.state = 'refused';
          },
        );
      task.finish = () => {
        done.resolve();
        return ended;
      };
      tasks.push(task);
      return task;
    },
    /** Ends the running task, `times` times. Returns the parties that ran, in order. */
    async turns(times: number) {
      const ran: string[] = [];
      while (ran.length < times) {
        const running = tasks.find(({ state }) => state === 'running');
        ran.push(running?.parties.join(' ') ?? 'none');
        await running?.finish();
      }
      return ran;
    },
  };
}

/** The promises of refused tasks have settled after this. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('who asks 60 times shares the turns with who asks once', async () => {
  const { ask, turns } = openQueue();
  for (let i = 0; i < 60; i++) ask('hostile');
  ask('ada');
  ask('bob');
  expect(await turns(5)).toEqual(['hostile', 'ada', 'bob', 'hostile', 'hostile']);
});

test('those who keep asking take turns, whoever came first', async () => {
  const { ask, turns } = openQueue();
  for (let i = 0; i < 3; i++) ask('ada');
  for (let i = 0; i < 3; i++) ask('bob');
  expect(await turns(6)).toEqual(['ada', 'bob', 'ada', 'bob', 'ada', 'bob']);
});

test('one party never has more than its share of the cores', async () => {
  const { ask, tasks } = openQueue({ threads: 8 });
  for (let i = 0; i < 20; i++) ask('hostile', `a party of its own ${i}`);
  const running = () => tasks.filter(({ state }) => state === 'running').length;
  expect(running()).toBe(partyShare);
  await tasks[0]?.finish();
  expect(running()).toBe(partyShare);
});

test('whoever asks about somebody’s account does not come before its owner, who was not here lately', async () => {
  const { ask, turns } = openQueue();
  ask('hostile client', 'the account');
  for (let i = 0; i < 10; i++) ask('hostile client', 'the account');
  ask('own client', 'the account');
  expect(await turns(2)).toEqual(['hostile client the account', 'own client the account']);
});

test('when the queue is full, whoever has most in it is told to come again, not the newcomer', async () => {
  const { ask, tasks } = openQueue({ maxWaitMs: 0 });
  // The first task is measured, so that what waits takes longer than nothing.
  await Promise.all([ask('somebody').finish(), settled()]);
  for (let i = 0; i < 5; i++) ask('hostile');
  const ada = ask('ada');
  await settled();
  expect(ada.state).toBe('waiting');
  const hostile = tasks.filter(({ parties }) => parties[0] === 'hostile').map(({ state }) => state);
  expect(hostile).toEqual(['running', 'refused', 'refused', 'refused', 'refused']);
});

test('among those within their share, whoever was served most lately is told to come again', async () => {
  const { ask, turns } = openQueue({ maxWaitMs: 0 });
  for (let i = 0; i < 3; i++) {
    ask('often');
    await turns(1);
  }
  ask('running');
  const often = ask('often');
  const rarely = ask('rarely');
  await settled();
  expect([often.state, rarely.state]).toEqual(['refused', 'waiting']);
});

test('no task waits for longer than twice the wait, whoever else there is', async () => {
  const { ask, queue } = openQueue({ maxWaitMs: 10 });
  const running = ask('ada');
  const waiting = ask('bob');
  await eventually(() => expect(waiting.state).toBe('refused'));
  expect([running.state, queue.waiting]).toEqual(['running', 0]);
  await running.finish();
  expect(running.state).toBe('done');
});

test('work that fails gives its place to the next', async () => {
  const queue = createFairQueue({ threads: 1, maxWaitMs: 1_000, tooBusy: () => new Error('busy') });
  const failing = queue.run(['ada'], () => Promise.reject(new Error('broken')));
  const next = queue.run(['ada'], async () => 'served');
  await expect(failing).rejects.toThrow('broken');
  await expect(next).resolves.toBe('served');
});

const party = fc.constantFrom('a', 'b', 'c', 'd');
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ ask: fc.uniqueArray(party, { minLength: 1, maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ finish: fc.nat() }) },
);

test('whatever is asked: shares hold, no core idles that somebody could use, and each task ends once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.boolean(), fc.array(step), async (threads, tight, steps) => {
      const { ask, tasks, queue } = openQueue({ threads, ...(tight && { maxWaitMs: 0 }) });
      const having = (state: Asked['state']) => tasks.filter((task) => task.state === state);
      const runningOf = (name: string) => having('running').filter(({ parties }) => parties.includes(name)).length;
      for (const one of steps) {
        const running = having('running');
        if ('ask' in one) ask(...one.ask);
        else await running[one.finish % Math.max(1, running.length)]?.finish();
        await settled();
        expect(having('running').length).toBeLessThanOrEqual(threads);
        for (const name of ['a', 'b', 'c', 'd']) expect(runningOf(name)).toBeLessThanOrEqual(partyShare);
        if (having('running').length < threads)
          for (const { parties } of having('waiting'))
            expect(parties.some((name) => runningOf(name) === partyShare)).toBe(true);
        expect(having('waiting')).toHaveLength(queue.waiting);
      }
      while (having('running').length > 0) await having('running')[0]?.finish();
      expect(having('done').length + having('refused').length).toBe(tasks.length);
      if (!tight) expect(having('refused')).toEqual([]);
    }),
    { numRuns: 200 },
  );
});
