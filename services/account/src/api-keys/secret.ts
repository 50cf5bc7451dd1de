import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The platform that a key belongs to. A stage key is not accepted in production. */
export interface KeyEnvironment {
  /** The first part of the key id, such as `atp` in `atp_live_…`. */
  readonly prefix: string;
  readonly name: 'live' | 'stage';
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const lengths = { id: 22, secret: 34, checksum: 6 };

const random = (length: number) => Array.from({ length }, () => base62[randomInt(base62.length)]).join('');

/**
 * 32 bits in six characters. With this checksum a scanner of leaked text can distinguish a real secret from a random
 * word.
 */
function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < lengths.checksum; i++) {
    digits = base62[rest % base62.length] + digits;
    rest = Math.floor(rest / base62.length);
  }
  return digits;
}

export const hashSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** The id and the secret of a new key. */
export function newKeyPair({ prefix, name }: KeyEnvironment): { accessKeyId: string; secret: string } {
  const random34 = random(lengths.secret);
  return { accessKeyId: `${prefix}_${name}_${random(lengths.id)}`, secret: random34 + checksumOf(random34) };
}

const idShape = /^[a-z0-9]{1,20}_(live|stage)_[0-9A-Za-z]{22}$/;
const secretShape = /^[0-9A-Za-z]{40}$/;

/** Whether the id and the secret have the format of our keys. Other values are refused without a look-up. */
export function looksLikeKey(accessKeyId: string, secret: string): boolean {
  return (
    idShape.test(accessKeyId) &&
    secretShape.test(secret) &&
    checksumOf(secret.slice(0, lengths.secret)) === secret.slice(lengths.secret)
  );
}

export const isOfEnvironment = (accessKeyId: string, { prefix, name }: KeyEnvironment): boolean =>
  accessKeyId.startsWith(`${prefix}_${name}_`);
