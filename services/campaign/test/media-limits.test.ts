import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, expect, test } from '@jest/globals';
import { ended, outOfTime } from '../src/media/limited.ts';

const children: ChildProcess[] = [];
const begin = (script: string) => {
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  return child;
};
const forever = 'setInterval(() => {}, 1e6); console.log(0)';
const limits = { signal: new AbortController().signal, memory: 2 ** 40 };

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

test('a process that ends by itself has its exit code', async () => {
  expect(await Promise.all([0, 3].map((code) => ended(begin(`process.exit(${code})`), limits)))).toEqual([0, 3]);
});

/** Memory is measured where the system has /proc. */
const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('a process that takes more memory than it may is killed', async () => {
  const child = begin(`${forever}; globalThis.kept = Buffer.alloc(300 * 2 ** 20, 1)`);
  await expect(ended(child, { ...limits, memory: 200 * 2 ** 20 })).rejects.toThrow('more memory');
  expect(child.signalCode).toBe('SIGKILL');
});

test('a process whose time is over is killed, and the reason is what failed', async () => {
  const late = new AbortController();
  const child = begin(forever);
  child.stdout?.once('data', () => late.abort(outOfTime));
  await expect(ended(child, { ...limits, signal: late.signal })).rejects.toBe(outOfTime);
  expect(child.signalCode).toBe('SIGKILL');
  const second = begin(forever);
  await expect(ended(second, { ...limits, signal: late.signal })).rejects.toBe(outOfTime);
  expect(second.signalCode).toBe('SIGKILL');
});

test('that a process is killed by another is no fault of the file; that it crashes may be', async () => {
  const killed = begin(forever);
  killed.stdout?.once('data', () => killed.kill('SIGKILL'));
  await expect(ended(killed, limits)).rejects.toThrow('was killed');
  const crashed = begin(forever);
  crashed.stdout?.once('data', () => crashed.kill('SIGSEGV'));
  expect(await ended(crashed, limits)).toBeNull();
});

test('a program that cannot be started fails', async () => {
  await expect(ended(spawn('/no/such/program'), limits)).rejects.toThrow('ENOENT');
});
