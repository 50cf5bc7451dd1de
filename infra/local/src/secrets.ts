import { randomBytes } from 'node:crypto';
import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateKeySets, keyFilesOf } from '@attribution/auth';
import { authorityIn, newAuthority } from '@attribution/certificates';
import { newUuid } from '@attribution/ids';
import { z } from 'zod';

const StoredSecrets = z.object({
  postgres_password: z.string(),
  password_pepper: z.string(),
  secret_key: z.base64(),
});
type StoredSecrets = z.output<typeof StoredSecrets>;

export interface Secrets extends StoredSecrets {
  /** The values of `TOKEN_PRIVATE_KEYS` and `TOKEN_PUBLIC_KEYS`: JSON, or the path of a file. */
  readonly token_keys: { readonly private: string; readonly public: string };
  /** The value of `DEVICE_CA`: JSON, or the path of a file. */
  readonly device_ca: string;
}

const newStoredSecrets = (): StoredSecrets => ({
  postgres_password: randomBytes(24).toString('base64url'),
  password_pepper: randomBytes(32).toString('base64url'),
  secret_key: randomBytes(32).toString('base64'),
});

/** One for all installations of a process that keep nothing, because RSA keys take some tenths of a second. */
let deviceAuthority: string | undefined;

/** Generates secrets for an installation that keeps nothing. */
export function newSecrets(): Secrets {
  const keys = generateKeySets(newUuid());
  return {
    ...newStoredSecrets(),
    token_keys: { private: JSON.stringify(keys.private), public: JSON.stringify(keys.public) },
    device_ca: (deviceAuthority ??= JSON.stringify(newAuthority().authority)),
  };
}

/** Reads the secrets of a local installation. The first start generates them, in files that only the owner can read. */
export async function localSecrets(directory: string): Promise<Secrets> {
  return {
    ...(await storedSecretsIn(join(directory, 'secrets.json'))),
    token_keys: await tokenKeysIn(directory),
    device_ca: (await authorityIn(directory)).authority,
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
