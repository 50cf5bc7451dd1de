import { randomUUID } from 'node:crypto';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { clocksApart } from './clocks.ts';
import { generateKeySets, KeySet } from './key-sets.ts';
import { ACCESS_TOKEN_TTL } from './tokens.ts';

/** The files of a key set, for the signer and for the verifiers. */
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
  /** The `kid` of removed keys: their last token has expired. */
  readonly dropped: readonly string[];
}

/**
 * Adds a signing key that takes over `delay` seconds from now, so that every verifier has read it before it signs its first
 * token, even if the signer's clock is `clocksApart` ahead. Old keys stay until their last token has expired, even if the
 * signer's clock is as much behind. A second rotation at the same time is refused. A dry run reads both files and writes
 * none.
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
    // The verifiers' file first, because they must know a key before it signs.
    await replaceAll([
      [files.public, verifying],
      [files.private, signing],
    ]);
    return rotation;
  });
}

/** The new content of both files. */
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

/** Two concurrent rotations would each lose the other's key. */
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

/** Writes all new files first and then renames each, so that no process ever reads half of one. */
async function replaceAll(sets: readonly (readonly [file: string, set: KeySet])[]): Promise<void> {
  const fresh = (file: string) => `${file}.${process.pid}`;
  try {
    for (const [file, set] of sets) await writeLike(file, fresh(file), set);
    for (const [file] of sets) await rename(fresh(file), file);
  } finally {
    for (const [file] of sets) await rm(fresh(file), { force: true });
  }
}

/** Gives the new file the owner and mode of the old one, because another user may run the rotation. */
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
