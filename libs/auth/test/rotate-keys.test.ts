import { chmod, chown, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@attribution/testing';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import {
  createSigner,
  createVerifier,
  generateKeySets,
  type KeyFiles,
  KeysSetting,
  keyFilesOf,
  rotateKeys,
  unfollow,
} from '../src/index.ts';
import { goodClaims } from './support.ts';

const start = Date.parse('2026-11-21T12:00:00Z');
const seconds = 1000;
const minutes = 60 * seconds;

let directory: string;
let files: KeyFiles;
let now = start;
beforeEach(async () => {
  now = start;
  directory = await mkdtemp(join(tmpdir(), 'keys-'));
  files = keyFilesOf(directory);
  const sets = generateKeySets('first');
  await writeFile(files.private, JSON.stringify(sets.private));
  await writeFile(files.public, JSON.stringify(sets.public));
});
afterEach(async () => {
  unfollow(files.private);
  unfollow(files.public);
  await rm(directory, { recursive: true });
});

const { iss: _, aud: __, iat: ___, exp: ____, ...identity } = goodClaims;
/** A signer and a verifier of processes that started before any rotation. */
function running() {
  const signer = createSigner(KeysSetting.parse(files.private));
  const verifier = createVerifier(KeysSetting.parse(files.public), () => now);
  return {
    sign: () => signer.sign('at+jwt', identity, 15 * 60, new Date(now)),
    accepts(token: string) {
      try {
        return verifier.authenticate(`Bearer ${token}`).id === identity.sub;
      } catch {
        return false;
      }
    },
  };
}
const kidOf = (token: string) =>
  (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: string }).kid;
const rotate = (delay = 60) => rotateKeys(files, delay, new Date(now));
const kidsIn = async (file: string) =>
  (JSON.parse(await readFile(file, 'utf8')) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);

test('a running signer switches to the new key at its time, and running verifiers accept both keys', async () => {
  const { sign, accepts } = running();
  const before = sign();
  const { kid } = await rotate();
  expect(kidOf(sign())).toBe('first');
  now += 60 * seconds;
  await eventually(() => expect(kidOf(sign())).toBe(kid));
  await eventually(() => expect(accepts(sign())).toBe(true));
  expect(accepts(before)).toBe(true);
});

test('verifiers know a key before it signs, so that a verifier that has read the files never refuses its tokens', async () => {
  await rotate(60);
  const { sign, accepts } = running();
  for (const at of [0, 59, 60, 61]) {
    now = start + at * seconds;
    expect(accepts(sign())).toBe(true);
  }
});

test('a key is kept while its tokens may be valid, and removed by the first rotation after that', async () => {
  const second = await rotate(60);
  expect(second.dropped).toEqual([]);
  now += 10 * minutes;
  const third = await rotate(60);
  expect(third.dropped).toEqual([]);
  expect(await kidsIn(files.public)).toEqual([third.kid, second.kid, 'first']);
  now = start + 60 * seconds + 15 * minutes + 5 * minutes;
  const fourth = await rotate(60);
  expect(fourth.dropped).toEqual(['first']);
  for (const file of [files.private, files.public])
    expect(await kidsIn(file)).toEqual([fourth.kid, third.kid, second.kid]);
});

test('a key is kept while tokens of a signer whose clock is five minutes behind may be valid', async () => {
  const { sign, accepts } = running();
  await rotate(60);
  now += 59 * seconds;
  const last = sign();
  expect(kidOf(last)).toBe('first');
  now += 14 * minutes;
  expect(accepts(last)).toBe(true);
  // The clock of the rotation is five minutes ahead of the signer’s.
  expect((await rotateKeys(files, 60, new Date(now + 5 * minutes))).dropped).toEqual([]);
});

test('a token of a removed key is refused, although it was accepted and cached before', async () => {
  const { sign, accepts } = running();
  const token = sign();
  expect(accepts(token)).toBe(true);
  await writeFile(files.public, JSON.stringify(generateKeySets('other').public));
  await eventually(() => expect(accepts(token)).toBe(false));
});

test('if the file becomes invalid, the former keys stay in use', async () => {
  const { sign, accepts } = running();
  const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
  await writeFile(files.public, '{"keys":[]}');
  await eventually(() => expect(warn).toHaveBeenCalledWith(expect.stringContaining(files.public)));
  warn.mockRestore();
  expect(accepts(sign())).toBe(true);
});

test('a rotation of files that cannot be read changes nothing', async () => {
  const before = await readFile(files.private, 'utf8');
  await writeFile(files.public, 'no key set');
  await expect(rotate()).rejects.toThrow();
  expect(await readFile(files.private, 'utf8')).toBe(before);
  expect(await readFile(files.public, 'utf8')).toBe('no key set');
});

test('one of two concurrent rotations is refused, and both files have the same keys', async () => {
  const outcomes = await Promise.allSettled([rotate(), rotate()]);
  const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
  expect(refused).toEqual([expect.stringContaining(`${files.private}.lock is there: another rotation is under way`)]);
  expect(await kidsIn(files.private)).toEqual(await kidsIn(files.public));
  expect(await kidsIn(files.private)).toHaveLength(2);
  expect((await readdir(directory)).toSorted()).toEqual(['token-keys.private.json', 'token-keys.public.json']);
  await rotate();
  expect(await kidsIn(files.private)).toHaveLength(3);
});

test('the error after a killed rotation names the lock file, and what to do', async () => {
  await writeFile(`${files.private}.lock`, '');
  await expect(rotate()).rejects.toThrow('If none is, one was killed: remove that file');
  expect(await kidsIn(files.private)).toEqual(['first']);
  expect(await rotateKeys(files, 60, new Date(now), { dryRun: true })).toMatchObject({ dropped: [] });
  await rm(`${files.private}.lock`);
  await rotate();
  expect(await kidsIn(files.private)).toHaveLength(2);
});

test('the files keep their permissions', async () => {
  await chmod(files.private, 0o640);
  await chmod(files.public, 0o604);
  const asRoot = process.getuid?.() === 0;
  if (asRoot) for (const file of [files.private, files.public]) await chown(file, 1000, 1001);
  const access = async (file: string) => {
    const { mode, uid, gid } = await stat(file);
    return [mode & 0o777, ...(asRoot ? [uid, gid] : [])];
  };
  await rotate();
  expect(await access(files.private)).toEqual([0o640, ...(asRoot ? [1000, 1001] : [])]);
  expect(await access(files.public)).toEqual([0o604, ...(asRoot ? [1000, 1001] : [])]);
  expect(await readFile(files.public, 'utf8')).not.toContain('"d"');
});

test.each([
  ['/nowhere/keys.json', 'ENOENT'],
  ['{"keys":[]}', 'P-256'],
  ['{"keys":', 'P-256'],
])('a setting of %j is refused, and says why', (text, why) => {
  expect(() => KeysSetting.parse(text)).toThrow(why);
});
