import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { bundlesOf } from '../src/index.ts';

const run = promisify(execFile);
const program = 'infra/bundle/test/program.process.ts';
let cache: string;
beforeAll(async () => {
  cache = await mkdtemp(join(tmpdir(), 'bundles-'));
});
afterAll(() => rm(cache, { recursive: true, force: true }));

async function outputOf(path: string, ...nodeArguments: string[]): Promise<string> {
  return (await run(process.execPath, [...nodeArguments, path], { env: {} })).stdout.trim();
}

test('a bundle finds what lies beside its sources, and keeps the names of classes', async () => {
  const bundle = (await bundlesOf([program], { cache })).get(program) ?? '';
  expect(bundle.startsWith(cache)).toBe(true);
  expect(JSON.parse(await outputOf(bundle))).toEqual({
    greeting: 'hello',
    directory: import.meta.dirname,
    url: pathToFileURL(join(import.meta.dirname, 'program.process.ts')).href,
    name: 'NamedError',
    patched: false,
  });
});

test('a preload that patches a driver patches the one of the bundle', async () => {
  const bundle = (await bundlesOf([program], { cache })).get(program) ?? '';
  const preload = pathToFileURL(join(import.meta.dirname, 'patch-pg.process.ts')).href;
  expect(JSON.parse(await outputOf(bundle, `--import=${preload}`))).toMatchObject({ patched: true });
});

test('a bundle is used again until one of its sources changes', async () => {
  const root = await mkdtemp(join(tmpdir(), 'bundled-'));
  try {
    await writeFile(join(root, 'main.ts'), "import { word } from './word.ts';\nconsole.log(word);\n");
    await writeFile(join(root, 'word.ts'), "export const word = 'one';\n");
    const bundle = async () => (await bundlesOf(['main.ts'], { root, cache })).get('main.ts') ?? '';
    const [first, second] = await Promise.all([bundle(), bundle()]);
    expect(second).toBe(first);
    expect(await bundle()).toBe(first);
    expect(await outputOf(first)).toBe('one');
    await writeFile(join(root, 'word.ts'), "export const word: string = 'other';\n");
    expect(await outputOf(await bundle())).toBe('other');
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});
