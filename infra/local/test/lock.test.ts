import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FolderInUse, lockFolder } from '../src/lock.ts';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lock-'));
  file = join(directory, 'running.pid');
});

const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  await rm(directory, { recursive: true });
});

const program = `
import { createInterface } from 'node:readline';
import { lockFolder } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, '../src/lock.ts')).href)};
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
console.log('ready');
await input.next();
try {
  lockFolder(${JSON.stringify('DIRECTORY')});
  console.log('held');
} catch (error) {
  console.log(error.name);
}
await input.next();
`;

/** Starts another process, which takes the lock on request and keeps it until it is killed. */
async function startTaker() {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program.replace('DIRECTORY', directory)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => String((await lines.next()).value);
  expect(await next()).toBe('ready');
  return {
    child,
    async take(): Promise<string> {
      child.stdin.write('\n');
      return next();
    },
  };
}

async function startTakers(count: number) {
  return Promise.all(Array.from({ length: count }, startTaker));
}

/** Leaves the lock of a process that was killed while it held it. */
async function leaveStaleLock(): Promise<void> {
  const { child, take } = await startTaker();
  expect(await take()).toBe('held');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await readFile(file, 'utf8')).toContain(String(child.pid));
}

test('a free folder can be locked, and is free again after it is unlocked', async () => {
  for (let round = 0; round < 2; round++) {
    const unlock = lockFolder(directory);
    expect(await readdir(directory)).toEqual(['running.pid']);
    unlock();
    expect(await readdir(directory)).toEqual([]);
  }
});

test('a folder that this process has locked cannot be locked again', () => {
  const unlock = lockFolder(directory);
  for (let time = 0; time < 2; time++) expect(() => lockFolder(directory)).toThrow(FolderInUse);
  unlock();
});

test('a folder that another process has locked is refused, with the id of that process', async () => {
  const { child, take } = await startTaker();
  expect(await take()).toBe('held');
  expect(() => lockFolder(directory)).toThrow(new FolderInUse(`process ${child.pid} runs on ${directory}`));
});

test('unlocking twice has no further effect', () => {
  const unlock = lockFolder(directory);
  unlock();
  expect(unlock).not.toThrow();
});

test('each folder has a lock of its own', async () => {
  const unlock = lockFolder(directory);
  const other = await mkdtemp(join(tmpdir(), 'lock-'));
  lockFolder(other)();
  unlock();
  await rm(other, { recursive: true });
});

test('a missing folder is not reported as one in use', () => {
  expect(() => lockFolder(join(directory, 'missing'))).toThrow('ENOENT');
});

describe('a stale lock', () => {
  test('is taken over', async () => {
    await leaveStaleLock();
    const unlock = lockFolder(directory);
    expect(await readFile(file, 'utf8')).toContain(String(process.pid));
    expect(() => lockFolder(directory)).toThrow(FolderInUse);
    unlock();
    expect(await readdir(directory)).toEqual([]);
  });

  test('is taken over after another process died while taking it over', async () => {
    await leaveStaleLock();
    const stale = await readFile(file, 'utf8');
    for (const claim of [`${file}.claim`, `${file}.claim.claim`]) await writeFile(claim, stale);
    lockFolder(directory)();
    expect(await readdir(directory)).toEqual([]);
  });

  test('is taken over when its process id now belongs to another process', async () => {
    await writeFile(file, `${process.pid} 1`);
    lockFolder(directory)();
  });

  test.each(['', 'nonsense', '0 0', '-1 5', '99999999999 1', '\0'])(
    'with unreadable content, %j, is taken over',
    async (content) => {
      await writeFile(file, content);
      lockFolder(directory)();
      expect(await readdir(directory)).toEqual([]);
    },
  );
});

test('of 20 processes that lock a free folder at once, exactly one succeeds', async () => {
  const takers = await startTakers(20);
  const outcomes = await Promise.all(takers.map(({ take }) => take()));
  expect(outcomes.sort()).toEqual([...Array(19).fill('FolderInUse'), 'held']);
});

test('of 20 processes that find a stale lock at once, exactly one takes it over', async () => {
  await leaveStaleLock();
  const takers = await startTakers(20);
  const outcomes = await Promise.all(takers.map(({ take }) => take()));
  expect(outcomes.sort()).toEqual([...Array(19).fill('FolderInUse'), 'held']);
});
