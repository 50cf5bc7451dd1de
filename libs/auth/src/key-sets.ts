import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { isNativeError } from 'node:util/types';
import { z } from 'zod';

const Jwk = z.looseObject({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  kid: z.string().min(1),
  /** When it begins to sign, in seconds since the epoch; by then every verifier knows it. Not a member of RFC 7517. */
  signs_from: z.int().optional(),
});
/** A JSON Web Key Set (RFC 7517) of P-256 keys, each with a `kid`, newest first. */
export const KeySet = z.object({ keys: z.array(Jwk).min(1) });
export type KeySet = z.output<typeof KeySet>;

/** A key set, or a function that returns the current one, because keys are rotated while processes run. */
export type Keys = KeySet | (() => KeySet);

export const algorithm = 'ES256';

/** Generates a signing key: its private set, and the public set that verifies it. */
export function generateKeySets(kid: string, signsFrom?: number): { private: KeySet; public: KeySet } {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const more = { kid, alg: algorithm, ...(signsFrom !== undefined && { signs_from: signsFrom }) };
  const set = (key: KeyObject) => KeySet.parse({ keys: [{ ...key.export({ format: 'jwk' }), ...more }] });
  return { private: set(pair.privateKey), public: set(pair.publicKey) };
}

/** Files are polled, because orchestrators replace mounted secrets without a notification. */
const pollIntervalMs = 1_000;

/** A setting with a key set, as JSON or as the path of a file. Changes of the file take effect a second later. */
export const KeysSetting = z.string().transform((text, context): (() => KeySet) => {
  const parse = (json: string) => KeySet.parse(JSON.parse(json));
  try {
    if (text.trimStart().startsWith('{')) {
      const set = parse(text);
      return () => set;
    }
    return followFile(text, parse);
  } catch (error) {
    const why =
      isNativeError(error) && 'code' in error
        ? `the file cannot be read (${String(error.code)})`
        : 'is no set of P-256 keys';
    context.addIssue({ code: 'custom', message: `must be a key set as JSON, or the path of one: ${why}` });
    return z.NEVER;
  }
});

/** `TOKEN_PUBLIC_KEYS`, a setting of every process that serves requests. */
export const TokenPublicKeysSetting = KeysSetting.meta({
  description:
    'The JSON Web Key Set that access tokens are verified with, or the path of one. A file is followed while it changes: `npm run ops -- rotate-keys`',
});

function followFile<T>(path: string, parse: (text: string) => T): () => T {
  let current = parse(readFileSync(path, 'utf8'));
  watchFile(path, { interval: pollIntervalMs, persistent: false }, () => {
    try {
      current = parse(readFileSync(path, 'utf8'));
    } catch {
      process.emitWarning(`${path} holds no key set: the former one stays in force`);
    }
  });
  return () => current;
}

/** Stops polling the file. */
export const unfollow = (path: string): void => unwatchFile(path);
