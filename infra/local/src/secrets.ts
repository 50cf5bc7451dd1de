import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateKeySets, KeySet } from '@attribution/auth';
import { newUuid } from '@attribution/contracts';
import { z } from 'zod';

const Secrets = z.object({
  postgres_password: z.string(),
  password_pepper: z.string(),
  secret_key: z.base64(),
  token_keys: z.object({ private: KeySet, public: KeySet }),
});
export type Secrets = z.output<typeof Secrets>;

export function newSecrets(): Secrets {
  return {
    postgres_password: randomBytes(24).toString('base64url'),
    password_pepper: randomBytes(32).toString('base64url'),
    secret_key: randomBytes(32).toString('base64'),
    token_keys: generateKeySets(newUuid()),
  };
}

/** The secrets of a local installation: made at its first start, readable by its owner alone, kept. */
export async function localSecrets(directory: string): Promise<Secrets> {
  const file = join(directory, 'secrets.json');
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text !== undefined) return Secrets.parse(JSON.parse(text));
  const secrets = newSecrets();
  await writeFile(file, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  return secrets;
}
