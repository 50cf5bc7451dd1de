import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const root = resolve(import.meta.dirname, '../../..');

/** A test file with every kind of failure, and with modules that test files share. */
const tests = `
import { expect, jest, test } from '@jest/globals';
import { next as nextOfProduct } from '../product.ts';
import { next as nextOfSupport } from './support.ts';

test('support is evaluated for this file', () => expect(nextOfSupport()).toBe(1));
test('the product is loaded once', () => expect(nextOfProduct()).toBe(1));
test('mocks of another file are restored', () => expect(Math.random()).toBeLessThan(1));
test('a mock', () => void jest.spyOn(Math, 'random').mockReturnValue(7));
test('a wrong value', () => expect({ a: [1] }).toEqual({ a: [2] }));
test('hangs', () => new Promise(() => {}), 100);
test('rejects unhandled', async () => {
  void Promise.reject(new Error('unseen'));
  await new Promise((resolve) => setTimeout(resolve, 20));
});
test('throws later', async () => {
  setTimeout(() => { throw new Error('late'); }, 1);
  await new Promise((resolve) => setTimeout(resolve, 20));
});
test.skip('skipped', () => {});
test.each([[1, 3]])('%d + %d', (a, b) => expect(a + b).toBe(4));
test.todo('nothing');
`;
const counter = 'let count = 0;\nexport const next = () => ++count;\n';

let directory: string;
let statuses: Record<string, string>[];
let messages: string[];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'run-file-'));
  await mkdir(join(directory, 'test'));
  const files = { 'product.ts': counter, 'test/support.ts': counter, 'test/a.test.ts': tests, 'test/b.test.ts': tests };
  const unloadable = {
    'test/c.test.ts': 'throw new Error("cannot be loaded");',
    'test/d.test.ts': "import '../shared.ts';",
    'shared.ts': "import '@jest/globals';",
  };
  for (const [name, text] of Object.entries({ ...files, ...unloadable })) await writeFile(join(directory, name), text);
  const config = {
    rootDir: directory,
    testRunner: join(root, 'infra/tools/src/jest/run-file.ts'),
    testMatch: ['**/*.test.ts'],
    transform: {},
  };
  const report = join(directory, 'report.json');
  const jest = join(root, 'node_modules/jest/bin/jest.js');
  const args = [jest, '--runInBand', '--config', JSON.stringify(config), '--json', `--outputFile=${report}`];
  await new Promise<void>((done) => void execFile(process.execPath, args, { cwd: directory }, () => done()));
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as {
    testResults: { name: string; message: string; assertionResults: { title: string; status: string }[] }[];
  };
  const byName = testResults.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  messages = byName.map(({ message }) => message);
  statuses = byName.map(({ assertionResults }) =>
    Object.fromEntries(assertionResults.map(({ title, status }) => [title, status])),
  );
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test('a failure, a timeout, an unhandled rejection and a late throw each fail their own test, and no other', () => {
  const expected = {
    'a wrong value': 'failed',
    hangs: 'failed',
    'rejects unhandled': 'failed',
    'throws later': 'failed',
    skipped: 'pending',
    '1 + 3': 'passed',
    nothing: 'todo',
  };
  for (const file of statuses.slice(0, 2)) expect(file).toMatchObject(expected);
});

test('support modules are evaluated for each file, mocks end with their file, and the product is loaded once', () => {
  const own = { 'support is evaluated for this file': 'passed', 'mocks of another file are restored': 'passed' };
  const [first, second] = statuses.slice(0, 2).toSorted((a) => (a['the product is loaded once'] === 'passed' ? -1 : 1));
  expect(first).toMatchObject({ ...own, 'the product is loaded once': 'passed' });
  expect(second).toMatchObject({ ...own, 'the product is loaded once': 'failed' });
});

test('a file that cannot be loaded fails, as does one whose tests would be those of the first file that is run', () => {
  expect(messages.slice(2)).toEqual([
    expect.stringContaining('cannot be loaded'),
    expect.stringContaining('shared.ts imports @jest/globals: it has to lie in a folder named test'),
  ]);
});
