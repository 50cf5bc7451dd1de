import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openScratch } from '../src/scratch.ts';

let parent: string;
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'scratch-'));
});
afterAll(() => rm(parent, { recursive: true }));

const anyRoom = { bytes: 0, memory: 0 };
const module = join(import.meta.dirname, '../src/scratch.ts');

/** Opens a folder in a process of its own, which then ends as told. Returns the folder, and whether it was there until then. */
function openIn(end = ''): [directory: string, wasThere: boolean] {
  const code = `
    const { openScratch } = await import(${JSON.stringify(module)});
    const { existsSync, writeSync } = await import('node:fs');
    const directory = openScratch(${JSON.stringify(parent)}, ${JSON.stringify(anyRoom)});
    writeSync(1, JSON.stringify([directory, existsSync(directory)]));
    ${end}`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  return JSON.parse(stdout) as ReturnType<typeof openIn>;
}

test('the folder is there until the process exits', () => {
  const [directory, wasThere] = openIn();
  expect(directory).toMatch(/attribution-tests-\d+@.+$/);
  expect([wasThere, existsSync(directory)]).toEqual([true, false]);
});

test('that of a process that was killed is removed by the next run, and those of a live one and of another host are not', async () => {
  const [killed] = openIn("process.kill(process.pid, 'SIGKILL');");
  expect(existsSync(killed)).toBe(true);
  const live = join(parent, basename(killed).replace(/\d+@/, `${process.ppid}@`));
  const elsewhere = join(parent, basename(killed).replace(/@.+/, '@elsewhere'));
  await Promise.all([mkdir(live), mkdir(elsewhere)]);
  openIn();
  expect([killed, live, elsewhere].map(existsSync)).toEqual([false, true, true]);
});

test('there is none without room or memory, or where the file system is missing', async () => {
  expect(openScratch(parent, { ...anyRoom, bytes: Number.MAX_SAFE_INTEGER })).toBeUndefined();
  expect(openScratch(parent, { ...anyRoom, memory: Number.MAX_SAFE_INTEGER })).toBeUndefined();
  expect(openScratch(join(parent, 'missing'), anyRoom)).toBeUndefined();
  expect((await readdir(parent)).join(' ')).not.toContain(`-${process.pid}@`);
});
