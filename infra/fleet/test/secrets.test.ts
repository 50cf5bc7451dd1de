import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { completeSecrets, secretsIn } from '../src/secrets.ts';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'secrets-'));
  file = join(directory, '.env');
});
afterEach(() => rm(directory, { recursive: true }));

const ignore = () => {};

test('secrets are generated once and kept in a file that only its owner can read', async () => {
  const generated = await secretsIn(file, ignore);
  expect(await secretsIn(file, ignore)).toEqual(generated);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(parseEnv(await readFile(file, 'utf8'))).toEqual(generated);
});

test('missing secrets are generated with the rest of their group, and other variables in the file stay', async () => {
  const { TOKEN_PRIVATE_KEYS: _, ...without } = completeSecrets({});
  await writeFile(
    file,
    Object.entries({ ...without, LOG_LEVEL: 'debug' })
      .map(([name, value]) => `${name}='${value}'\n`)
      .join(''),
  );
  const completed = await secretsIn(file, ignore);
  expect(completed.LOG_LEVEL).toBe('debug');
  expect(completed.PASSWORD_PEPPER).toBe(without.PASSWORD_PEPPER);
  // A new private key needs a new public key.
  expect(completed.TOKEN_PUBLIC_KEYS).not.toBe(without.TOKEN_PUBLIC_KEYS);
});

test('given values take precedence and are not written to the file; when all are given there is no file', async () => {
  const given = completeSecrets({});
  expect(await secretsIn(file, ignore, { ...given, PATH: '/bin' })).toMatchObject(given);
  await expect(stat(file)).rejects.toThrow('ENOENT');
  const { POSTGRES_PASSWORD: _, ...some } = given;
  const kept = await secretsIn(file, ignore, some);
  expect(parseEnv(await readFile(file, 'utf8'))).toEqual({ POSTGRES_PASSWORD: kept.POSTGRES_PASSWORD });
  expect(kept).toMatchObject(some);
});

test('no two passwords are the same, and none needs quoting in a URL', () => {
  const secrets = completeSecrets({});
  const passwords = Object.entries(secrets).flatMap(([name, value]) => (name.endsWith('_PASSWORD') ? value : []));
  expect(new Set(passwords).size).toBe(passwords.length);
  for (const password of passwords) expect(password).toMatch(/^[\w-]{32}$/);
});
