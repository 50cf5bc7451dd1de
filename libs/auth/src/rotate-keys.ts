import { randomUUID } from 'node:crypto';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { clocksApart } from './clocks.ts';
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
 * the first token comes that it signed, though the signer's clock be `clocksApart` ahead. Keys stay until their last token
 * has expired, though the signer's be as much behind. One rotation at a time: another one is refused. A dry run reads both
 * files, and writes none.
 */
export async function rotateKeys(
  files: KeyFiles,
  delay: number,
  now = new Date(),
  { dryRun = false }: { readonly dryRun?: boolean } = {},
): Promise<Rotation> {
  if (dryRun) return (await plan(files, delay, now)).rotation;
  return locked(`${files.private}.lock`, async () => {
    const { rotation, signing, verifying } = await plan(files, delay, now);
    // Verifiers first: a key that signs is known to them.
    await replaceAll([
      [files.public, verifying],
      [files.private, signing],
    ]);
    return rotation;
  });
}

/** What both files will hold. */
async function plan(files: KeyFiles, delay: number, now: Date) {
  const seconds = Math.floor(now.getTime() / 1000);
  const [signing, verifying] = await Promise.all([readSet(files.private), readSet(files.public)]);
  const added = generateKeySets(randomUUID(), seconds + delay);
  const kept = signing.keys.filter((_, index) => {
    const successor = signing.keys[index - 1];
    return !successor || (successor.signs_from ?? 0) + ACCESS_TOKEN_TTL + clocksApart > seconds;
  });
  const kids = new Set(kept.map(({ kid }) => kid));
  const stay = verifying.keys.filter(({ kid }) => kids.has(kid));
  return {
    signing: { keys: [...added.private.keys, ...kept] },
    verifying: { keys: [...added.public.keys, ...stay] },
    rotation: {
      kid: added.public.keys[0]?.kid ?? '',
      signsFrom: new Date((seconds + delay) * 1000),
      dropped: signing.keys.filter(({ kid }) => !kids.has(kid)).map(({ kid }) => kid),
    } satisfies Rotation,
  };
}

const readSet = async (file: string) => KeySet.parse(JSON.parse(await readFile(file, 'utf8')));

/** Two at once would each write a key that the other does not know. */
async function locked<T>(file: string, work: () => Promise<T>): Promise<T> {
  const lock = await open(file, 'wx').catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    throw new Error(`${file} is there: another rotation is under way. If none is, one was killed: remove that file`, {
      cause,
    });
  });
  try {
    await lock.close();
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

/** Replaces files in turn, when what replaces them is written: nobody ever reads half of one. */
async function replaceAll(sets: readonly (readonly [file: string, set: KeySet])[]): Promise<void> {
  const fresh = (file: string) => `${file}.${process.pid}`;
  try {
    for (const [file, set] of sets) await writeLike(file, fresh(file), set);
    for (const [file] of sets) await rename(fresh(file), file);
  } finally {
    for (const [file] of sets) await rm(fresh(file), { force: true });
  }
}

/** Whoever can read the one can read the other: it may be somebody else's who rotates it. */
async function writeLike(file: string, fresh: string, set: KeySet): Promise<void> {
  const { uid, gid, mode } = await stat(file);
  const handle = await open(fresh, 'wx', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(set, null, 2)}\n`);
    await handle.chown(uid, gid);
    await handle.chmod(mode & 0o777);
  } finally {
    await handle.close();
  }
}
