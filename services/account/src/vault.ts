import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Encrypts secrets that must be readable again. */
export interface Vault {
  /** `purpose` is bound to the result, so that a secret encrypted for one purpose cannot be decrypted for another. */
  encrypt(plain: string, purpose: string): Uint8Array<ArrayBuffer>;
  decrypt(sealed: Uint8Array, purpose: string): string;
  /** Whether it was encrypted with the first key. */
  isCurrent(sealed: Uint8Array): boolean;
}

const algorithm = 'aes-256-gcm';
const lengths = { keyId: 4, iv: 12, tag: 16 };

interface Key {
  readonly id: Buffer;
  readonly secret: Buffer;
}

/**
 * AES-256-GCM. The first key encrypts, all keys decrypt: to rotate, put a new key first, run `ops re-encrypt`, and remove
 * the old one a day later, when no queued mail needs it.
 */
export function createVault(base64Keys: readonly string[]): Vault {
  const keys = base64Keys.map((text): Key => {
    const secret = Buffer.from(text, 'base64');
    if (secret.length !== 32) throw new Error('SECRET_KEYS: each must be 32 bytes in base64');
    return { secret, id: createHash('sha256').update(secret).digest().subarray(0, lengths.keyId) };
  });
  const [first] = keys;
  if (!first) throw new Error('SECRET_KEYS: is empty');

  return {
    encrypt(plain, purpose) {
      const iv = randomBytes(lengths.iv);
      const cipher = createCipheriv(algorithm, first.secret, iv).setAAD(Buffer.from(purpose));
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return new Uint8Array(Buffer.concat([first.id, iv, cipher.getAuthTag(), sealed]));
    },
    isCurrent: (sealed) => first.id.equals(sealed.subarray(0, lengths.keyId)),
    decrypt(sealed, purpose) {
      const bytes = Buffer.from(sealed);
      let at = 0;
      const take = (length: number) => bytes.subarray(at, (at += length));
      const id = take(lengths.keyId);
      const iv = take(lengths.iv);
      const tag = take(lengths.tag);
      const key = keys.find((candidate) => candidate.id.equals(id));
      if (!key) throw new Error('Encrypted with a key that is not configured');
      const decipher = createDecipheriv(algorithm, key.secret, iv).setAAD(Buffer.from(purpose)).setAuthTag(tag);
      return Buffer.concat([decipher.update(bytes.subarray(at)), decipher.final()]).toString('utf8');
    },
  };
}
