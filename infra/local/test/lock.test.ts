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

/** Another process, which takes the lock when it is told to, and keeps it until it is killed. */
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

/** What a process leaves that was killed while it held the lock. */
async function leaveStaleLock(): Promise<void> {
  const { child, take } = await startTaker();
  expect(await take()).toBe('held');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await readFile(file, 'utf8')).toContain(String(child.pid));
}

test('a free folder is taken, and is free again when it is given back', async () => {
  for (let round = 0; round < 2; round++) {
    const unlock = lockFolder(directory);
    expect(await readdir(directory)).toEqual(['running.pid']);
    unlock();
    expect(await readdir(directory)).toEqual([]);
  }
});

test('a folder that this process holds is not taken twice, and stays held', () => {
  const unlock = lockFolder(directory);
  for (let time = 0; time < 2; time++) expect(() => lockFolder(directory)).toThrow(FolderInUse);
  unlock();
});

test('a folder that another process holds is refused by its number', async () => {
  const { child, take } = await startTaker();
  expect(await take()).toBe('held');
  expect(() => lockFolder(directory)).toThrow(new FolderInUse(`process ${child.pid} runs on ${directory}`));
});

test('giving back twice is giving back once', () => {
  const unlock = lockFolder(directory);
  unlock();
  expect(unlock).not.toThrow();
});

test('other folders are other locks', async () => {
  const unlock = lockFolder(directory);
  const other = await mkdtemp(join(tmpdir(), 'lock-'));
  lockFolder(other)();
  unlock();
  await rm(other, { recursive: true });
});

test('a folder that is not there is an error of its own', () => {
  expect(() => lockFolder(join(directory, 'missing'))).toThrow('ENOENT');
});

describe('a lock whose owner is gone', () => {
  test('is taken over', async () => {
    await leaveStaleLock();
    const unlock = lockFolder(directory);
    expect(await readFile(file, 'utf8')).toContain(String(process.pid));
    expect(() => lockFolder(directory)).toThrow(FolderInUse);
    unlock();
    expect(await readdir(directory)).toEqual([]);
  });

  test('is taken over after somebody died who was about to take it over', async () => {
    await leaveStaleLock();
    const stale = await readFile(file, 'utf8');
    for (const left of [`${file}.claim`, `${file}.claim.claim`]) await writeFile(left, stale);
    lockFolder(directory)();
    expect(await readdir(directory)).toEqual([]);
  });

  test('is taken over, too, when its number belongs to a process that began later', async () => {
    await writeFile(file, `${process.pid} 1`);
    lockFolder(directory)();
  });

  test.each(['', 'nonsense', '0 0', '-1 5', '99999999999 1', '\0'])(
    'and says nothing that can be read, %j, is taken over',
    async (content) => {
      await writeFile(file, content);
      lockFolder(directory)();
      expect(await readdir(directory)).toEqual([]);
    },
  );
});

test('of 20 processes at once one takes a free folder', async () => {
  const takers = await startTakers(20);
  const outcomes = await Promise.all(takers.map(({ take }) => take()));
  expect(outcomes.sort()).toEqual([...Array(19).fill('FolderInUse'), 'held']);
});

test('of 20 processes at once one takes over a folder whose owner is gone', async () => {
  await leaveStaleLock();
  const takers = await startTakers(20);
  const outcomes = await Promise.all(takers.map(({ take }) => take()));
  expect(outcomes.sort()).toEqual([...Array(19).fill('FolderInUse'), 'held']);
});
