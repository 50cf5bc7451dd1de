import { expect, test } from '@jest/globals';
import { createHasher } from '../src/passwords/index.ts';

const hasher = createHasher({ pepper: 'a pepper for tests, of no worth at all', cost: 4 });

test('503: a storm of sign-ins is refused beyond what can wait, and what waited is done', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 400 }, () => hasher.verifyPassword('x', undefined)));
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  expect(refused.length).toBeGreaterThan(100);
  expect(refused.length).toBeLessThan(150);
  for (const { reason } of refused)
    expect(reason).toMatchObject({ kind: 'unavailable', headers: { 'retry-after': '5' } });
  await expect(hasher.verifyPassword('right', await hasher.hashPassword('right'))).resolves.toBe(true);
});
