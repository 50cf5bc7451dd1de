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

test('what was written has no differences', async () => {
  expect(await differencesIn(root, generated)).toEqual([]);
});

test('the first lines that differ are shown, those that are there and those that should be', async () => {
  await writeFile(join(root, 'page.md'), 'one\ntoo\nthree\n');
  expect(await differencesIn(root, generated)).toEqual([
    {
      file: 'page.md',
      detail: 'differs from line 2 on\n    - too\n    - three\n    - \n    + two\n    + three\n    + ',
    },
  ]);
});

test('a line too many at the end is a difference', async () => {
  await writeFile(join(root, 'page.md'), 'one\ntwo\nthree\n\n');
  expect(await differencesIn(root, generated)).toMatchObject([{ file: 'page.md' }]);
});

test('a file that is not there is named', async () => {
  await rm(join(root, 'page.md'));
  expect(await differencesIn(root, generated)).toEqual([{ file: 'page.md', detail: 'is not there' }]);
});

test('in a generated folder nothing else may be: it is named, and removed; beside it everything may', async () => {
  await mkdir(join(root, 'all/more'));
  await writeFile(join(root, 'all/more/left.yml'), '');
  await writeFile(join(root, 'other.yml'), '');
  expect(await differencesIn(root, generated)).toEqual([
    { file: 'all/more/left.yml', detail: 'is generated no more, and still there' },
  ]);
  expect(await writeTree(root, generated)).toEqual(['all/more/left.yml']);
  expect(await differencesIn(root, generated)).toEqual([]);
  expect(await readFile(join(root, 'other.yml'), 'utf8')).toBe('');
});

test('only what differs is written', async () => {
  await writeFile(join(root, 'page.md'), '');
  expect(await writeTree(root, generated)).toEqual(['page.md']);
});
