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
  /** The database's URL: a worker opens its own connection to listen on. */
  readonly url: string;
  readonly pool: pg.Pool;
  readonly logger: Logger;
}

/**
 * Wakes the relay or a job by its name. An `api` runs neither, and notifies the workers through the database; a `worker`
 * listens for these notifications. A lost notification only costs time, because the relay and the jobs also poll.
 */
export function createWaking({ role, url, pool, logger }: WakingOptions) {
  const here = new Map<string, Wakeable>();
  const hints = role === 'api' ? createHints((name) => wakeWorkers(pool, name)) : undefined;
  const wakeHere = (name: string) => here.get(name)?.wake();
  let listener: Listener | undefined;

  return {
    /** Registers what a name wakes in this process. */
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
      listener = listenTo({ url, channel: wakeChannel, onNotification: wakeHere, onError });
    },

    /** Resolves when no more notifications arrive and the last one was sent. */
    stop: () => Promise.allSettled([listener?.stop(), hints?.stop()]),
  };
}
