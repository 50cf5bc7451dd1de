import type { IncomingMessage } from 'node:http';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { requestContext } from '../src/index.ts';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const received = (headers: Record<string, string>) =>
  ({ headers, socket: { remoteAddress: '192.0.2.7' } }) as unknown as IncomingMessage;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void;

/** How many bytes more are in use after so many requests with headers of 4 KB, and young collections. */
function keptOf(requests: number): number {
  collect({ type: 'major' });
  const before = getHeapStatistics().used_heap_size;
  for (let number = 1; number <= requests; number++) {
    requestContext(received(Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`x-${at}`, `${number} ${at}`]))));
    if (number % 500 === 0) collect({ type: 'minor' });
  }
  for (let times = 0; times < 2; times++) collect({ type: 'minor' });
  return getHeapStatistics().used_heap_size - before;
}

test('a request is gone with the next young collections: its context keeps nothing of it for the old generation', () => {
  keptOf(1_000); // The code itself is compiled.
  expect(keptOf(5_000)).toBeLessThan(2_000_000);
});

test('a request without a trace context begins a trace, the same whenever it is asked for, and sampled as it is told', () => {
  for (const [sampled, flag] of [
    [true, '01'],
    [false, '00'],
  ] as const) {
    const context = requestContext(received({}), sampled);
    expect(context.traceparent).toMatch(new RegExp(`^00-[0-9a-f]{32}-[0-9a-f]{16}-${flag}$`));
    expect(context.traceparent).toBe(context.traceparent);
  }
  expect(requestContext(received({ traceparent }), false).traceparent).toBe(traceparent);
});
