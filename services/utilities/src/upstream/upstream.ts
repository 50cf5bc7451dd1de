import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@attribution/contracts';
import { isUniqueViolation } from '@attribution/database';
import type { Clock } from '@attribution/runtime';
import type { Logger } from 'pino';
import type { UtilitiesDatabase } from '../store.ts';
import type { Told } from '../told.ts';
import { bookCall, findAnswer, type KeptAnswer, keepAnswer, type Pace, postpone } from './upstream.store.ts';
import { UpstreamFailed } from './upstream-failed.ts';

/** How long a request waits for its turn to ask an upstream. */
const patienceMs = 5_000;

export interface UpstreamDependencies {
  readonly database: UtilitiesDatabase;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How many answers are kept, of all upstreams. */
  readonly kept: number;
}

/** One kind of question to a server, and how long its answers are good. */
export interface Question<Q, S, A> {
  /** `source` of its answers. */
  readonly upstream: string;
  readonly attribution: string;
  readonly pace: Pace;
  /** Equal for questions that have the same answer. */
  key(question: Q): string;
  /** How long an answer is given without asking again, and how long where the upstream fails, in milliseconds. */
  lifetimes(question: Q, retrievedAt: Date): { readonly freshMs: number; readonly keptMs: number };
  /** Throws `UpstreamFailed` for anything but an answer. */
  ask(question: Q): Promise<S>;
  view(said: S, question: Q): A | Promise<A>;
}

/** An answer, and who says so. */
export type Answered<A> = { readonly answer: A } & Told;

/**
 * Asks an upstream through the kept answers. Those who ask the same at the same time share one request. When the upstream fails the kept
 * answer is given as stale while it is not too old; else this throws `upstream-error`.
 */
export function createUpstream<Q, S, A>(
  { database, clock, logger, kept: most }: UpstreamDependencies,
  source: Question<Q, S, A>,
): (question: Q) => Promise<Answered<A>> {
  const { upstream, attribution } = source;
  const inFlight = new Map<string, Promise<Answered<A>>>();

  const told = ({ answer, retrieved_at }: KeptAnswer, stale: boolean): Answered<A> => ({
    ...{ answer: answer as A, source: upstream, attribution, stale },
    retrieved_at: retrieved_at.toISOString(),
  });

  async function askNow(question: Q, key: string): Promise<KeptAnswer> {
    const wait = await bookCall(database.sql, upstream, source.pace, patienceMs);
    if (wait === undefined) throw new UpstreamFailed('It has been asked as often as it permits');
    if (wait > 0) await sleep(wait);
    const said = await source.ask(question);
    const row = { key, upstream, said, answer: await source.view(said, question), retrieved_at: clock.now() };
    await keepAnswer(database.sql, row, most).catch((error: unknown) => {
      // Another process has kept an answer to the same question meanwhile.
      if (!isUniqueViolation(error)) throw error;
    });
    return row;
  }

  async function answer(question: Q, key: string): Promise<Answered<A>> {
    const kept = await findAnswer(database.sql, key);
    const now = clock.now();
    const { freshMs, keptMs } = source.lifetimes(question, kept?.retrieved_at ?? now);
    const age = kept ? now.getTime() - kept.retrieved_at.getTime() : Number.POSITIVE_INFINITY;
    if (kept && age <= freshMs) return told(kept, false);
    try {
      return told(await askNow(question, key), false);
    } catch (error) {
      if (!(error instanceof UpstreamFailed)) throw error;
      logger.warn({ err: error, upstream }, 'An upstream has failed');
      if (error.retryAfterMs !== undefined) await postpone(database.sql, upstream, error.retryAfterMs);
      if (kept && age <= keptMs) return told(kept, true);
      throw new Problem('upstream-error', `${upstream} does not answer, and no earlier answer is kept.`);
    }
  }

  return (question) => {
    const key = createHash('sha256')
      .update(`${upstream}\n${source.key(question)}`)
      .digest('hex');
    const running = inFlight.get(key);
    if (running !== undefined) return running;
    const started = answer(question, key).finally(() => inFlight.delete(key));
    inFlight.set(key, started);
    return started;
  };
}
