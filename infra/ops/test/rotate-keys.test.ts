import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeySets, keyFilesOf } from '@attribution/auth';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ops } from './support.ts';

let directory: string;
let files: ReturnType<typeof keyFilesOf>;
const former = generateKeySets('former', 0);
const present = generateKeySets('present', 1);
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ops-keys-'));
  files = keyFilesOf(directory);
  await writeFile(files.private, JSON.stringify({ keys: [...present.private.keys, ...former.private.keys] }));
  await writeFile(files.public, JSON.stringify({ keys: [...present.public.keys, ...former.public.keys] }));
});
afterEach(() => rm(directory, { recursive: true }));

const texts = async () => Promise.all([readFile(files.private, 'utf8'), readFile(files.public, 'utf8')]);
const kids = async () =>
  (await texts()).map((text) => (JSON.parse(text) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid));

test('a dry run writes nothing, and names the keys that the real run removes', async () => {
  const before = await texts();
  const dry = await ops('rotate-keys --dry-run', { LOCAL_DIR: directory });
  expect([dry.code, dry.out]).toEqual([0, expect.stringContaining('Key former would be removed')]);
  expect(await texts()).toEqual(before);
  const real = await ops('rotate-keys --in 30', { LOCAL_DIR: directory });
  expect([real.code, real.out]).toEqual([0, expect.stringContaining('Key former was removed')]);
  const [, kid = ''] = /^Key (\S+) signs from/.exec(real.out) ?? [];
  expect(await kids()).toEqual([
    [kid, 'present'],
    [kid, 'present'],
  ]);
});

test('flags name the files, or the variables that processes read', async () => {
  const named = { TOKEN_PRIVATE_KEYS: files.private, TOKEN_PUBLIC_KEYS: files.public };
  expect((await ops('rotate-keys', named)).code).toBe(0);
  const flags = `--private ${files.private} --public ${files.public}`;
  expect((await ops(`rotate-keys ${flags}`)).code).toBe(0);
  expect((await kids())[0]).toHaveLength(3);
});

test('a key set in a variable is refused, because running processes could not reload it; it is not shown', async () => {
  const { code, out, err } = await ops('rotate-keys', {
    TOKEN_PRIVATE_KEYS: JSON.stringify(present.private),
    TOKEN_PUBLIC_KEYS: JSON.stringify(present.public),
  });
  expect([code, err]).toEqual([2, expect.stringContaining('name files')]);
  expect(out + err).not.toContain(String(present.private.keys[0]?.d));
});

test('without valid keys nothing is changed, and the command says so', async () => {
  await writeFile(files.public, '{ "keys": ');
  const { code, err } = await ops('rotate-keys', { LOCAL_DIR: directory });
  expect([code, err]).toEqual([1, expect.stringContaining('nothing was changed')]);
});
