import { expect, test } from '@jest/globals';
import { inBatches } from '../src/index.ts';

/** Statements that end when the test says so, and what each of them was asked. */
function statements() {
  const asked: (readonly number[])[] = [];
  const ends: { resolve(): void; reject(error: Error): void }[] = [];
  const call = inBatches(async (calls: readonly number[]) => {
    asked.push(calls);
    await new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
    return calls.map((n) => n * 10);
  });
  return { asked, ends, call };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a call that comes alone is answered at once; those that come while two statements run share the next ones, in order', async () => {
  const { asked, ends, call } = statements();
  const first = call(1);
  await turn();
  const second = call(2);
  await turn();
  const others = Array.from({ length: 100 }, (_, n) => call(100 + n));
  await turn();
  expect(asked).toEqual([[1], [2]]);
  ends.shift()?.resolve();
  ends.shift()?.resolve();
  expect([await first, await second]).toEqual([10, 20]);
  await turn();
  for (const end of ends) end.resolve();
  expect(await Promise.all(others)).toEqual(Array.from({ length: 100 }, (_, n) => (100 + n) * 10));
  expect(asked.slice(2).map(({ length }) => length)).toEqual([64, 36]);
});

test('a statement that fails fails its own calls, and the next ones are answered', async () => {
  const { ends, call } = statements();
  const failing = call(1);
  await turn();
  ends.shift()?.reject(new Error('away'));
  await expect(failing).rejects.toThrow('away');
  const next = call(2);
  await turn();
  ends.shift()?.resolve();
  expect(await next).toBe(20);
});
