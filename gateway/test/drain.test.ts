import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { createDrain } from '../src/drain.ts';

const arriving = () => new IncomingMessage(new Socket());

test('the drain takes 1,024 refused bodies of all clients together, and another one when one of them is gone', async () => {
  const drain = createDrain();
  const bodies = Array.from({ length: 1_024 }, arriving);
  expect(bodies.map((body, n) => drain.add(body, `10.0.0.${n >> 4}`))).not.toContain(false);
  expect(drain.add(arriving(), '10.0.1.1')).toBe(false);

  const [gone] = bodies as [IncomingMessage];
  gone.destroy();
  await once(gone, 'close');
  expect(drain.add(arriving(), '10.0.1.1')).toBe(true);
  expect(drain.add(arriving(), '10.0.1.1')).toBe(false);
});
