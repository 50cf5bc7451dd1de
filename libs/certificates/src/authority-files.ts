import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isNativeError } from 'node:util/types';
import { z } from 'zod';
import { Authority, newAuthority, newIssuer } from './authority.ts';

/** The files of an authority: what signs, the root's key, and the root's certificate, which is public. */
export interface AuthorityFiles {
  readonly authority: string;
  readonly rootKey: string;
  readonly root: string;
}

export const authorityFilesOf = (directory: string): AuthorityFiles => ({
  authority: join(directory, 'device-ca.json'),
  rootKey: join(directory, 'device-ca.root-key.pem'),
  root: join(directory, 'device-ca.pem'),
});

/** How long a file that was read counts as current, in milliseconds. */
const currentMs = 1_000;

/** `DEVICE_CA`: the authority as JSON, or the path of a file, whose changes take effect within a second. */
export const AuthoritySetting = z.string().transform((text, context): (() => Authority) => {
  const parse = (json: string) => Authority.parse(JSON.parse(json));
  try {
    if (text.trimStart().startsWith('{')) {
      const authority = parse(text);
      return () => authority;
    }
    return following(() => readFileSync(text, 'utf8'), parse);
  } catch (error) {
    const why =
      isNativeError(error) && 'code' in error
        ? `the file cannot be read (${String(error.code)})`
        : 'is no device authority';
    context.addIssue({ code: 'custom', message: `must be an authority as JSON, or the path of one: ${why}` });
    return z.NEVER;
  }
});

/**
 * Reads anew when the value is older than `currentMs`; a file that is broken leaves the former value in force. While the text
 * is the same the value is the same object, so that what was made from it is not made again.
 */
function following<T>(read: () => string, parse: (text: string) => T): () => T {
  let text = read();
  let [value, readAt] = [parse(text), Date.now()];
  return () => {
    if (Date.now() - readAt < currentMs) return value;
    readAt = Date.now();
    try {
      const fresh = read();
      if (fresh !== text) [value, text] = [parse(fresh), fresh];
    } catch {
      process.emitWarning('The device authority cannot be read: the former one stays in force');
    }
    return value;
  };
}

const json = (authority: Authority) => `${JSON.stringify(authority, null, 2)}\n`;

/** The authority in a folder; made there if there is none. Only its owner can read the keys. */
export async function authorityIn(directory: string): Promise<AuthorityFiles> {
  const files = authorityFilesOf(directory);
  const exists = await readFile(files.authority).then(
    () => true,
    () => false,
  );
  if (exists) return files;
  const { authority, rootKey } = newAuthority();
  await writeFile(files.root, authority.root);
  await writeFile(files.rootKey, rootKey, { mode: 0o600 });
  await writeFile(files.authority, json(authority), { mode: 0o600, flag: 'wx' });
  return files;
}

/**
 * Replaces the issuing authority: the new one signs from now on. Certificates of the former one stay good, because devices
 * and the ingress trust the root. A dry run reads the files and writes none. Returns when the new one ends.
 */
export async function rotateAuthority(
  files: Pick<AuthorityFiles, 'authority' | 'rootKey'>,
  { now = new Date(), dryRun = false }: { readonly now?: Date; readonly dryRun?: boolean } = {},
): Promise<Date> {
  const { root } = Authority.parse(JSON.parse(await readFile(files.authority, 'utf8')));
  const issuer = newIssuer(root, await readFile(files.rootKey, 'utf8'), now);
  const fresh = `${files.authority}.new`;
  if (!dryRun) {
    // Renamed when complete, so that no process ever reads half of it.
    await writeFile(fresh, json({ root, ...issuer }), { mode: 0o600, flag: 'wx' });
    await rename(fresh, files.authority).finally(() => rm(fresh, { force: true }));
  }
  return new X509Certificate(issuer.certificate).validToDate;
}
