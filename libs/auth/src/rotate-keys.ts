import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateKeySets, KeySet } from './key-sets.ts';
import { ACCESS_TOKEN_TTL } from './tokens.ts';

/** Where a key set lies, as a signer and as verifiers read it. */
export interface KeyFiles {
  readonly private: string;
  readonly public: string;
}

export const keyFilesOf = (directory: string): KeyFiles => ({
  private: join(directory, 'token-keys.private.json'),
  public: join(directory, 'token-keys.public.json'),
});

export interface Rotation {
  readonly kid: string;
  readonly signsFrom: Date;
  /** The `kid` of keys whose last token has expired: nobody accepts them any more. */
  readonly dropped: readonly string[];
}

/**
 * Adds a signing key that takes over `delay` seconds from now: time enough for every verifier to have read it before
 * the first token comes that it signed. Keys stay until their last token has expired.
 */
export async function rotateKeys(files: KeyFiles, delay: number, now = new Date()): Promise<Rotation> {
  const seconds = Math.floor(now.getTime() / 1000);
  const [signing, verifying] = await Promise.all([readSet(files.private), readSet(files.public)]);
  const added = generateKeySets(randomUUID(), seconds + delay);
  const kept = signing.keys.filter((_, index) => {
    const successor = signing.keys[index - 1];
    return !successor || (successor.signs_from ?? 0) + ACCESS_TOKEN_TTL > seconds;
  });
  const kids = new Set(kept.map(({ kid }) => kid));
  // Verifiers first: a key that signs is known to them.
  const stay = verifying.keys.filter(({ kid }) => kids.has(kid));
  await replace(files.public, { keys: [...added.public.keys, ...stay] }, 0o644);
  await replace(files.private, { keys: [...added.private.keys, ...kept] }, 0o600);
  return {
    kid: added.public.keys[0]?.kid ?? '',
    signsFrom: new Date((seconds + delay) * 1000),
    dropped: signing.keys.filter(({ kid }) => !kids.has(kid)).map(({ kid }) => kid),
  };
}

const readSet = async (file: string) => KeySet.parse(JSON.parse(await readFile(file, 'utf8')));

/** Nobody ever reads half of it. */
async function replace(file: string, set: KeySet, mode: number): Promise<void> {
  const fresh = `${file}.${process.pid}`;
  await writeFile(fresh, `${JSON.stringify(set, null, 2)}\n`, { mode, flag: 'wx' });
  await rename(fresh, file);
}
