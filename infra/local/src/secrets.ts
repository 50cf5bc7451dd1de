import { randomBytes } from 'node:crypto';
import { access, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateKeySets, keyFilesOf } from '@attribution/auth';
import { newUuid } from '@attribution/ids';
import { z } from 'zod';

const StoredSecrets = z.object({
  postgres_password: z.string(),
  password_pepper: z.string(),
  secret_key: z.base64(),
  /** Other secrets that services require, by the names of their settings. */
  settings: z.record(z.string(), z.string()).default({}),
});
type StoredSecrets = z.output<typeof StoredSecrets>;
type Settings = StoredSecrets['settings'];

export interface Secrets extends Omit<StoredSecrets, 'settings'> {
  /** The values of `TOKEN_PRIVATE_KEYS` and `TOKEN_PUBLIC_KEYS`: JSON, or the path of a file. */
  readonly token_keys: { readonly private: string; readonly public: string };
  /** Returns the values of these settings. Those that do not exist yet are generated, and kept where the others are. */
  settings(names: readonly string[]): Promise<Settings>;
}

const newStoredSecrets = (): StoredSecrets => ({
  postgres_password: randomBytes(24).toString('base64url'),
  password_pepper: randomBytes(32).toString('base64url'),
  secret_key: randomBytes(32).toString('base64'),
  settings: {},
});

/** Completes `known` by generated values. */
const settingsOf = (names: readonly string[], known: Settings): Settings =>
  Object.fromEntries(names.map((name) => [name, known[name] ?? randomBytes(32).toString('base64url')]));

/** Generates secrets for an installation that keeps nothing. */
export function newSecrets(): Secrets {
  const keys = generateKeySets(newUuid());
  return {
    ...newStoredSecrets(),
    token_keys: { private: JSON.stringify(keys.private), public: JSON.stringify(keys.public) },
    settings: async (names) => settingsOf(names, {}),
  };
}

/** Reads the secrets of a local installation. The first start generates them, in files that only the owner can read. */
export async function localSecrets(directory: string): Promise<Secrets> {
  const file = join(directory, 'secrets.json');
  const stored = await storedSecretsIn(file);
  return {
    ...stored,
    token_keys: await tokenKeysIn(directory),
    async settings(names) {
      if (names.every((name) => name in stored.settings)) return settingsOf(names, stored.settings);
      stored.settings = { ...stored.settings, ...settingsOf(names, stored.settings) };
      // Renamed when complete: a file that was cut off would lose the secrets without which the data cannot be used.
      await rm(`${file}.new`, { force: true });
      await writeSecret(`${file}.new`, stored);
      await rename(`${file}.new`, file);
      return settingsOf(names, stored.settings);
    },
  };
}

async function storedSecretsIn(file: string): Promise<StoredSecrets> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text !== undefined) return StoredSecrets.parse(JSON.parse(text));
  const secrets = newStoredSecrets();
  await writeSecret(file, secrets);
  return secrets;
}

/** Token keys have files of their own, because they are rotated while the platform runs. */
async function tokenKeysIn(directory: string): Promise<Secrets['token_keys']> {
  const files = keyFilesOf(directory);
  const exist = await access(files.private).then(
    () => true,
    () => false,
  );
  if (!exist) {
    const sets = generateKeySets(newUuid());
    await writeSecret(files.private, sets.private);
    await writeFile(files.public, JSON.stringify(sets.public));
  }
  return files;
}

const writeSecret = (file: string, content: object) =>
  writeFile(file, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
