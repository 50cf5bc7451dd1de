import { createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { nextFreePort, portProblem } from '../src/ports.ts';

test('a port in use is skipped in favour of the next free one', async () => {
  const taken = createServer();
  const port = await new Promise<number>((resolve) => {
    taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port));
  });
  expect(await portProblem('127.0.0.1', port)).toMatchObject({ code: 'EADDRINUSE' });
  expect(await nextFreePort('127.0.0.1', port)).toBeGreaterThan(port);
  await new Promise((resolve) => taken.close(resolve));
  expect(await portProblem('127.0.0.1', port)).toBeUndefined();
});
