import { type ChildProcess, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from '@jest/globals';
import { freePort } from '../src/index.ts';

const processes: ChildProcess[] = [];
afterEach(() => {
  for (const process of processes.splice(0)) process.kill('SIGKILL');
});

test('a port is given once, also while nobody listens on it yet', async () => {
  const ports = await Promise.all(Array.from({ length: 500 }, () => freePort()));
  expect(new Set(ports).size).toBe(500);
});

test('processes that ask at once are given different ports, also while nobody listens on them yet', async () => {
  const given = await Promise.all(Array.from({ length: 6 }, () => portsOfProcess(200)));
  expect(new Set(given.flat()).size).toBe(6 * 200);
});

/** The ports that another process was given. It lives until the test is over. */
async function portsOfProcess(count: number): Promise<number[]> {
  const port = fileURLToPath(new URL('../src/port.ts', import.meta.url));
  const script = `import { closeSync, writeSync } from 'node:fs';
    import { freePort } from ${JSON.stringify(port)};
    const ports = await Promise.all(Array.from({ length: ${count} }, () => freePort()));
    writeSync(1, JSON.stringify(ports));
    closeSync(1);
    setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  processes.push(child);
  const ports: number[] = JSON.parse(await text(child.stdout));
  return ports;
}
