import { afterAll, expect, test } from '@jest/globals';
import { openThread } from '../src/thread.ts';
import type { FragileMethods } from './fragile.thread.ts';

const module = new URL('fragile.thread.ts', import.meta.url);
const thread = openThread<FragileMethods>(module, ['double', 'fail', 'die', 'hoard'], 32);
afterAll(() => thread.stop());

test('each of many calls at once has its own result, and the error of one is not that of others', async () => {
  const calls = Array.from({ length: 900 }, (_, at) => (at % 3 === 0 ? thread.fail(`${at}`) : thread.double(at)));
  const settled = await Promise.allSettled(calls);
  for (const [at, one] of settled.entries())
    expect(one.status === 'fulfilled' ? one.value : one.reason.message).toBe(at % 3 === 0 ? `${at}` : 2 * at);
});

test('calls beyond a thousand are told at once to come again, and the others have their results', async () => {
  const settled = await Promise.allSettled(Array.from({ length: 1_010 }, (_, at) => thread.double(at)));
  const refused = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect(refused).toHaveLength(10);
  expect(refused[0]).toMatchObject({ kind: 'unavailable', headers: { 'retry-after': '1' } });
});

test.each(['die', 'hoard'] as const)(
  'when a thread ends (%s) the calls that wait fail, and the next one has a new thread',
  async (end) => {
    const settled = await Promise.allSettled([thread[end](), thread.double(1)]);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await thread.double(4)).toBe(8);
  },
);
