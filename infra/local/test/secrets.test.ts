import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSigner, createVerifier, KeysSetting } from '@attribution/auth';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { localSecrets, newSecrets } from '../src/secrets.ts';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'secrets-'));
  file = join(directory, 'secrets.json');
});
afterEach(() => rm(directory, { recursive: true }));

test('secrets are generated at the first start and kept from then on', async () => {
  const generated = await localSecrets(directory);
  const text = await readFile(file, 'utf8');
  expect(await localSecrets(directory)).toEqual(generated);
  expect(await readFile(file, 'utf8')).toBe(text);
});

test('only their owner can read secrets', async () => {
  const { token_keys } = await localSecrets(directory);
  for (const secret of [file, token_keys.private]) expect((await stat(secret)).mode & 0o777).toBe(0o600);
});

test('two installations share no secret', () => {
  const [one, other] = [newSecrets(), newSecrets()];
  for (const name of ['postgres_password', 'password_pepper', 'secret_key'] as const)
    expect(one[name]).not.toBe(other[name]);
  expect(one.token_keys.private).not.toEqual(other.token_keys.private);
});

test('secrets are long enough and valid for their purpose', () => {
  const secrets = newSecrets();
  expect(Buffer.from(secrets.secret_key, 'base64')).toHaveLength(32);
  expect(secrets.password_pepper.length).toBeGreaterThanOrEqual(32);
  expect(secrets.postgres_password).toMatch(/^[A-Za-z0-9_-]{32}$/);
  const token = createSigner(KeysSetting.parse(secrets.token_keys.private)).sign('at+jwt', { sub: 'usr_1' }, 60);
  expect(createVerifier(KeysSetting.parse(secrets.token_keys.public)).verify('at+jwt', token)).toMatchObject({
    sub: 'usr_1',
  });
});

test.each(['', '{', '{}', '{"postgres_password":"x"}', 'null'])(
  'an unreadable file, %j, is an error and is not overwritten, because the data cannot be used without its secrets',
  async (text) => {
    await writeFile(file, text);
    await expect(localSecrets(directory)).rejects.toThrow();
    expect(await readFile(file, 'utf8')).toBe(text);
  },
);
