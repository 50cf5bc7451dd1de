import { randomBytes } from 'node:crypto';
import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateKeySets, keyFilesOf } from '@attribution/auth';
import { newUuid } from '@attribution/ids';
import { z } from 'zod';

const Kept = z.object({
  postgres_password: z.string(),
  password_pepper: z.string(),
  secret_key: z.base64(),
});
type Kept = z.output<typeof Kept>;

export interface Secrets extends Kept {
  /** As `TOKEN_PRIVATE_KEYS` and `TOKEN_PUBLIC_KEYS` take them: JSON, or a file's path. */
  readonly token_keys: { readonly private: string; readonly public: string };
}

const newKept = (): Kept => ({
  postgres_password: randomBytes(24).toString('base64url'),
  password_pepper: randomBytes(32).toString('base64url'),
  secret_key: randomBytes(32).toString('base64'),
});

/** Of an installation that keeps nothing. */
export function newSecrets(): Secrets {
  const keys = generateKeySets(newUuid());
  return { ...newKept(), token_keys: { private: JSON.stringify(keys.private), public: JSON.stringify(keys.public) } };
}

/** The secrets of a local installation: made at its first start, readable by its owner alone, kept. */
export async function localSecrets(directory: string): Promise<Secrets> {
  return { ...(await keptIn(join(directory, 'secrets.json'))), token_keys: await tokenKeysIn(directory) };
}

async function keptIn(file: string): Promise<Kept> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text !== undefined) return Kept.parse(JSON.parse(text));
  const kept = newKept();
  await writeSecret(file, kept);
  return kept;
}

/** In files of their own, as they are rotated while the platform runs. */
async function tokenKeysIn(directory: string): Promise<Secrets['token_keys']> {
  const files = keyFilesOf(directory);
  const known = await access(files.private).then(
    () => true,
    () => false,
  );
  if (!known) {
    const sets = generateKeySets(newUuid());
    await writeSecret(files.private, sets.private);
    await writeFile(files.public, JSON.stringify(sets.public));
  }
  return files;
}

const writeSecret = (file: string, content: object) =>
  writeFile(file, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
