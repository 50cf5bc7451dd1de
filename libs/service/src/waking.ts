import { type Listener, listenTo } from '@attribution/database';
import type { RunningRole } from '@attribution/runtime';
import type pg from 'pg';
import type { Logger } from 'pino';
import { createHints } from './hints.ts';
import { wakeChannel, wakeWorkers } from './wake.ts';

interface Wakeable {
  wake(): void;
}

interface WakingOptions {
  readonly role: RunningRole;
  /** Of the database: a worker listens on a connection of its own. */
  readonly url: string;
  readonly pool: pg.Pool;
  readonly logger: Logger;
}

/**
 * Brings a wake-up to the relay or a job, by its name. An `api` has neither, and passes it on to the workers by the
 * database; a `worker` listens for those. One that is lost costs time alone, as the relay and the jobs look by themselves.
 */
export function createWaking({ role, url, pool, logger }: WakingOptions) {
  const here = new Map<string, Wakeable>();
  const hints = role === 'api' ? createHints((name) => wakeWorkers(pool, name)) : undefined;
  const wakeHere = (name: string) => here.get(name)?.wake();
  let listener: Listener | undefined;

  return {
    /** What is woken in this process by a name. */
    register: (name: string, wakeable: Wakeable) => void here.set(name, wakeable),

    wake(name: string): void {
      const local = here.get(name);
      if (local || !hints) local?.wake();
      else hints.give(name);
    },

    start(): void {
      if (role !== 'worker') return;
      const onError = (err: unknown) =>
        logger.warn({ err }, 'Wake-ups do not arrive; the outbox and the jobs are looked after all the same');
      listener = listenTo({ url, channel: wakeChannel, heard: wakeHere, onError });
    },

    /** Resolves when nothing more arrives, and the last one is on its way. */
    stop: () => Promise.allSettled([listener?.stop(), hints?.stop()]),
  };
}
