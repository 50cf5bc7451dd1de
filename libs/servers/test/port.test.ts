import { expect, test } from '@jest/globals';
import { freePort } from '../src/index.ts';

test('a port is given once, also while nobody listens on it yet', async () => {
  const ports = await Promise.all(Array.from({ length: 500 }, () => freePort()));
  expect(new Set(ports).size).toBe(500);
});
