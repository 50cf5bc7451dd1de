/**
 * Prints how many bytes are still in use after 5,000 requests with headers of 4 KB and young collections alone.
 *
 *     node --expose-gc request-context.process.ts
 */
import type { IncomingMessage } from 'node:http';
import { getHeapStatistics } from 'node:v8';
import { requestContext } from '../src/index.ts';

const collect = globalThis.gc as (options: { type: 'minor' | 'major' }) => void;
const headers = (number: number) =>
  Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`x-${at}`, `${number} ${at}`]));

function keptOf(requests: number): number {
  collect({ type: 'major' });
  const before = getHeapStatistics().used_heap_size;
  for (let number = 1; number <= requests; number++) {
    requestContext({ headers: headers(number), socket: {} } as unknown as IncomingMessage);
    if (number % 500 === 0) collect({ type: 'minor' });
  }
  for (let times = 0; times < 2; times++) collect({ type: 'minor' });
  return getHeapStatistics().used_heap_size - before;
}

keptOf(1_000); // The code itself is compiled.
process.stdout.write(`${keptOf(5_000)}\n`);
