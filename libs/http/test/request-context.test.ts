import { execFile } from 'node:child_process';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { requestContext } from '../src/index.ts';

const run = promisify(execFile);
const program = join(import.meta.dirname, 'request-context.process.ts');
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const received = (headers: Record<string, string>) => ({ headers, socket: {} }) as unknown as IncomingMessage;

test('a request is gone with the next young collections: its context keeps nothing of it for the old generation', async () => {
  const { stdout } = await run(process.execPath, ['--expose-gc', program]);
  expect(Number(stdout)).toBeLessThan(2_000_000);
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
