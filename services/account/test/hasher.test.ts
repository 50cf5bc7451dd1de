import { expect, test } from '@jest/globals';
import { createHasher } from '../src/passwords/index.ts';

const parties = ['client 198.51.100.1'];
const pepper = 'a pepper for tests, of no worth at all';

test('503: of a burst of sign-ins only as many wait as can be served in time, and those are served', async () => {
  const hasher = createHasher({ pepper, cost: 8, maxWaitMs: 100 });
  const hash = await hasher.hashPassword('right', parties);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 400 }, () => hasher.verifyPassword('right', hash, parties)),
  );
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  expect(refused.length).toBeGreaterThan(200);
  expect(refused.length).toBeLessThan(400);
  for (const { reason } of refused)
    expect(reason).toMatchObject({ kind: 'unavailable', headers: { 'retry-after': '5' } });
  const done = outcomes.filter((outcome) => outcome.status === 'fulfilled');
  expect(done.every(({ value }) => value)).toBe(true);
  await expect(hasher.verifyPassword('right', hash, parties)).resolves.toBe(true);
});

test('a burst of quick hashes is served in time without refusals', async () => {
  const hasher = createHasher({ pepper, cost: 4, maxWaitMs: 60_000 });
  const outcomes = await Promise.all(Array.from({ length: 400 }, () => hasher.verifyPassword('x', undefined, parties)));
  expect(outcomes).toEqual(Array(400).fill(false));
});

test('what unknown addresses are compared with is made, however long a process takes to start', async () => {
  const hasher = createHasher({ pepper, cost: 4, maxWaitMs: 0 });
  for (const waitsNoLonger = performance.now() + 1_100; performance.now() < waitsNoLonger; );
  await expect(hasher.decoyCodeHash).resolves.toEqual(expect.any(String));
  await expect(hasher.verifyPassword('x', undefined, parties)).resolves.toBe(false);
  await expect(hasher.verifyCode('123456', 'x', await hasher.decoyCodeHash, parties)).resolves.toBe(false);
});
