import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { differencesIn, writeTree } from '../src/tree.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tree-'));
  await writeTree(root, generated);
});
afterEach(() => rm(root, { recursive: true }));

const generated = {
  files: new Map([
    ['page.md', 'one\ntwo\nthree\n'],
    ['all/of/it.yml', 'a: b\n'],
  ]),
  folders: ['all'],
};

test('files that were written have no differences', async () => {
  expect(await differencesIn(root, generated)).toEqual([]);
});

test('the first lines that differ are shown, the actual ones and the expected ones', async () => {
  await writeFile(join(root, 'page.md'), 'one\ntoo\nthree\n');
  expect(await differencesIn(root, generated)).toEqual([
    {
      file: 'page.md',
      detail: 'differs from line 2 on\n    - too\n    - three\n    - \n    + two\n    + three\n    + ',
    },
  ]);
});

test('an extra line at the end is a difference', async () => {
  await writeFile(join(root, 'page.md'), 'one\ntwo\nthree\n\n');
  expect(await differencesIn(root, generated)).toMatchObject([{ file: 'page.md' }]);
});

test('a missing file is reported', async () => {
  await rm(join(root, 'page.md'));
  expect(await differencesIn(root, generated)).toEqual([{ file: 'page.md', detail: 'is missing' }]);
});

test('any other file in a generated folder is reported and removed; files elsewhere are left alone', async () => {
  await mkdir(join(root, 'all/more'));
  await writeFile(join(root, 'all/more/stale.yml'), '');
  await writeFile(join(root, 'other.yml'), '');
  expect(await differencesIn(root, generated)).toEqual([
    { file: 'all/more/stale.yml', detail: 'is no longer generated and must be removed' },
  ]);
  expect(await writeTree(root, generated)).toEqual(['all/more/stale.yml']);
  expect(await differencesIn(root, generated)).toEqual([]);
  expect(await readFile(join(root, 'other.yml'), 'utf8')).toBe('');
});

test('only files that differ are written', async () => {
  await writeFile(join(root, 'page.md'), '');
  expect(await writeTree(root, generated)).toEqual(['page.md']);
});
