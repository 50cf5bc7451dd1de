import { createHmac } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Problem } from '@attribution/contracts';
import bcrypt from 'bcrypt';
import pLimit from 'p-limit';
import { normalizePassword } from './password.ts';

export interface Hasher {
  hashPassword(password: string): Promise<string>;
  /** Without a stored hash, does the same amount of work and returns false. */
  verifyPassword(password: string, hash: string | undefined): Promise<boolean>;
  /** The hash is bound to the purpose of the code. */
  hashCode(code: string, boundTo: string): Promise<string>;
  verifyCode(code: string, boundTo: string, hash: string): Promise<boolean>;
}

/**
 * The longest time that a hash may wait in the queue: much less than the gateway, or a person, waits for a response.
 */
const defaultMaxWaitMs = 5_000;

const tooBusy = () =>
  new Problem('unavailable', 'Too many sign-ins at this moment; try again.', { 'retry-after': '5' });

/** A code is valid for minutes and has 5 attempts, so a quarter of the work of a password hash is enough. */
const codeCostBelow = 2;

/**
 * bcrypt over base64(HMAC-SHA-384(value, pepper)), which is 64 characters, so that bcrypt truncates nothing at 72
 * bytes or at a NUL.
 */
export function createHasher(options: { pepper: string; cost: number; maxWaitMs?: number }): Hasher {
  const { pepper, cost, maxWaitMs = defaultMaxWaitMs } = options;
  // Each hash occupies a core for a while, so one core is left for everything else.
  const threads = Math.max(1, availableParallelism() - 1);
  const limit = pLimit(threads);
  /** The recent duration of a hash, in milliseconds. */
  let recentMs = 0;
  const timed = async <T>(work: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    const result = await work();
    const took = performance.now() - began;
    recentMs = recentMs === 0 ? took : recentMs + (took - recentMs) / 5;
    return result;
  };
  const queue = <T>(work: () => Promise<T>): Promise<T> => {
    if ((limit.pendingCount * recentMs) / threads > maxWaitMs) return Promise.reject(tooBusy());
    return limit(() => timed(work));
  };
  const digest = (value: string) => createHmac('sha384', pepper).update(value).digest('base64');
  const codeCost = Math.max(4, cost - codeCostBelow);
  const dummyHash = queue(() => bcrypt.hash(digest('nobody has this password'), cost));
  const codeDigest = (code: string, boundTo: string) => digest(`${boundTo}\n${code}`);

  return {
    hashPassword: (password) => queue(() => bcrypt.hash(digest(normalizePassword(password)), cost)),
    async verifyPassword(password, hash) {
      const against = hash ?? (await dummyHash);
      const same = await queue(() => bcrypt.compare(digest(normalizePassword(password)), against));
      return same && hash !== undefined;
    },
    hashCode: (code, boundTo) => queue(() => bcrypt.hash(codeDigest(code, boundTo), codeCost)),
    verifyCode: (code, boundTo, hash) => queue(() => bcrypt.compare(codeDigest(code, boundTo), hash)),
  };
}
