import { createHmac } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Problem } from '@attribution/contracts';
import bcrypt from 'bcrypt';
import pLimit from 'p-limit';
import { normalizePassword } from './password.ts';

export interface Hasher {
  hashPassword(password: string): Promise<string>;
  /** Against a stored hash, or at the same cost against nothing when there is none: then false. */
  verifyPassword(password: string, hash: string | undefined): Promise<boolean>;
  /** A code's hash is bound to what the code is for. */
  hashCode(code: string, boundTo: string): Promise<string>;
  verifyCode(code: string, boundTo: string, hash: string): Promise<boolean>;
}

/** Milliseconds that a hash may have to wait for its turn: far less than the gateway, or a person, waits for an answer. */
const defaultPatience = 5_000;

const tooBusy = () =>
  new Problem('unavailable', 'Too many sign-ins at this moment; try again.', { 'retry-after': '5' });

/** A code lives minutes and has 5 attempts: a quarter of a password's work is enough. */
const codeCostBelow = 2;

/** bcrypt over base64(HMAC-SHA-384(value, pepper)): 64 characters, so that bcrypt cuts nothing at 72 bytes or a NUL. */
export function createHasher(options: { pepper: string; cost: number; patience?: number }): Hasher {
  const { pepper, cost, patience = defaultPatience } = options;
  // Each hash takes a core for a while: some are left for everything else.
  const threads = Math.max(1, availableParallelism() - 1);
  const limit = pLimit(threads);
  /** What a hash took lately, milliseconds. */
  let lately = 0;
  const timed = async <T>(work: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    const result = await work();
    const took = performance.now() - began;
    lately = lately === 0 ? took : lately + (took - lately) / 5;
    return result;
  };
  const queue = <T>(work: () => Promise<T>): Promise<T> => {
    if ((limit.pendingCount * lately) / threads > patience) return Promise.reject(tooBusy());
    return limit(() => timed(work));
  };
  const digest = (value: string) => createHmac('sha384', pepper).update(value).digest('base64');
  const codeCost = Math.max(4, cost - codeCostBelow);
  const nobody = queue(() => bcrypt.hash(digest('nobody has this password'), cost));
  const codeDigest = (code: string, boundTo: string) => digest(`${boundTo}\n${code}`);

  return {
    hashPassword: (password) => queue(() => bcrypt.hash(digest(normalizePassword(password)), cost)),
    async verifyPassword(password, hash) {
      const against = hash ?? (await nobody);
      const same = await queue(() => bcrypt.compare(digest(normalizePassword(password)), against));
      return same && hash !== undefined;
    },
    hashCode: (code, boundTo) => queue(() => bcrypt.hash(codeDigest(code, boundTo), codeCost)),
    verifyCode: (code, boundTo, hash) => queue(() => bcrypt.compare(codeDigest(code, boundTo), hash)),
  };
}
