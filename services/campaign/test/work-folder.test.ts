import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { newUuid } from '@attribution/ids';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openWorkFolder, removeOrphans } from '../src/media/work-folder.ts';

let parent: string;
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'test-work-'));
});
afterAll(() => rm(parent, { recursive: true, force: true }));

test('the folder of a try is there until it is removed, whoever cleans up', async () => {
  const folders = await Promise.all([openWorkFolder(parent), openWorkFolder(parent)]);
  await writeFile(join(folders[0].path, 'content'), 'bytes');
  await removeOrphans(parent);
  expect((await readdir(parent)).toSorted()).toEqual(folders.map(({ path }) => basename(path)).toSorted());
  for (const folder of folders) await folder.remove();
  expect(await readdir(parent)).toEqual([]);
});

test('what a killed process has left is removed; what may be in use elsewhere, or is not ours, stays', async () => {
  const gone = spawn(process.execPath, ['-e', '']);
  await once(gone, 'exit');
  const opened = await openWorkFolder(parent);
  const own = basename(opened.path);
  await opened.remove();
  const [name = '', host = ''] =
    own
      .split('~')[0]
      ?.split('@')
      .map((part) => part.replace(/^media-job-/, '')) ?? [];
  const folder = async (pid: number | string, at: string) => {
    const made = `media-job-${pid}@${at}~${newUuid()}`;
    await mkdir(join(parent, made));
    await writeFile(join(parent, made, 'content'), 'bytes');
    return made;
  };
  await folder(gone.pid ?? 0, host);
  await folder(name, host); // Of an earlier process that had the same number.
  const old = await folder(1, 'elsewhere');
  const before = new Date(Date.now() - 2 * 60 * 60_000);
  await utimes(join(parent, old), before, before);
  const stay = [await folder(1, 'elsewhere'), await folder(process.ppid, host), 'spool-1'];
  await mkdir(join(parent, 'spool-1'));
  await removeOrphans(parent);
  expect((await readdir(parent)).toSorted()).toEqual(stay.toSorted());
});

test('a folder that does not exist is made, and has no orphans', async () => {
  const missing = join(parent, 'not', 'there');
  await removeOrphans(missing);
  const folder = await openWorkFolder(missing);
  expect(await readdir(missing)).toEqual([basename(folder.path)]);
  await folder.remove();
});
