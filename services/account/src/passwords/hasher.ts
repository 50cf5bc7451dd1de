import { availableParallelism } from 'node:os';
import { Problem } from '@attribution/contracts';
import bcrypt from 'bcrypt';
import { createFairQueue } from './fair-queue.ts';
import type { HashMetrics } from './hash-metrics.ts';
import { normalizePassword } from './password.ts';
import { createPeppers } from './peppers.ts';

/** Each hash is made for some parties, who share the hashing fairly: see `partiesOf`. */
export interface Hasher {
  hashPassword(password: string, parties: readonly string[]): Promise<string>;
  /** Without a stored hash, does the same amount of work and returns false. */
  verifyPassword(
    password: string,
    hash: string | undefined,
    parties: readonly string[],
    count?: CountGuess,
  ): Promise<boolean>;
  /** False for a hash of an old pepper or another cost: it should be replaced when its password is at hand. */
  isCurrent(hash: string): boolean;
  /** The hash of a code that nobody has: those of addresses without one are compared with it. */
  readonly decoyCodeHash: Promise<string>;
  /** The hash is bound to the purpose of the code. */
  hashCode(code: string, boundTo: string, parties: readonly string[]): Promise<string>;
  verifyCode(
    code: string,
    boundTo: string,
    hash: string,
    parties: readonly string[],
    count?: CountGuess,
  ): Promise<boolean>;
}

/**
 * Counts a guess around its comparison. It is called when the hash has its turn, so that guesses which only wait count
 * nothing.
 */
export type CountGuess = (compare: () => Promise<boolean>) => Promise<boolean>;

const uncounted: CountGuess = (compare) => compare();

interface HasherOptions {
  readonly pepper: string;
  /** Hashes that were made with these are still verified. */
  readonly oldPeppers?: readonly string[] | undefined;
  readonly cost: number;
  /** What the hashes that wait may take together: much less than the gateway, or a person, waits for a response. */
  readonly maxWaitMs?: number;
  readonly metrics?: HashMetrics;
}

const tooBusy = () =>
  new Problem('unavailable', 'Too many sign-ins at this moment. Try again.', { 'retry-after': '5' });

/** A code is valid for minutes and has 5 attempts, so a quarter of the work of a password hash is enough. */
const codeCostBelow = 2;

/** bcrypt over the digest of a value under a pepper. */
export function createHasher(options: HasherOptions): Hasher {
  const { pepper, oldPeppers = [], cost, maxWaitMs = 5_000, metrics } = options;
  const peppers = createPeppers(pepper, oldPeppers);
  // Each hash occupies a core for a while, so one core is left for everything else.
  const threads = Math.max(1, availableParallelism() - 1);
  const queue = createFairQueue({
    threads,
    maxWaitMs,
    tooBusy() {
      metrics?.refused();
      return tooBusy();
    },
  });
  metrics?.watch(() => queue.waiting);
  const run = async <T>(parties: readonly string[], work: () => Promise<T>): Promise<T> => {
    const result = await queue.run(parties, work);
    metrics?.done();
    return result;
  };
  const codeCost = Math.max(4, cost - codeCostBelow);
  const hash = async (value: string, rounds: number) => peppers.mark(await bcrypt.hash(peppers.digest(value), rounds));
  const compare = async (value: string, against: string) => {
    const { hash, digest } = peppers.open(against);
    return (await bcrypt.compare((digest ?? peppers.digest)(value), hash)) && digest !== undefined;
  };
  const codeValue = (code: string, boundTo: string) => `${boundTo}\n${code}`;
  // Not in the queue, which refuses what has waited for long: a process that takes long to start would end by it.
  const decoyHash = hash('nobody has this password', cost);
  const decoyCodeHash = hash(codeValue('no code', 'nobody'), codeCost);

  return {
    hashPassword: (password, parties) => run(parties, () => hash(normalizePassword(password), cost)),
    async verifyPassword(password, stored, parties, count = uncounted) {
      const against = stored ?? (await decoyHash);
      const given = normalizePassword(password);
      return run(parties, () => count(async () => (await compare(given, against)) && stored !== undefined));
    },
    decoyCodeHash,
    isCurrent: (stored) => peppers.isCurrent(stored) && bcrypt.getRounds(peppers.open(stored).hash) === cost,
    hashCode: (code, boundTo, parties) => run(parties, () => hash(codeValue(code, boundTo), codeCost)),
    verifyCode: (code, boundTo, stored, parties, count = uncounted) =>
      run(parties, () => count(() => compare(codeValue(code, boundTo), stored))),
  };
}
