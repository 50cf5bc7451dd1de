import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** Milliseconds: for a connection and each of its questions, and between two attempts at one. */
const patience = 5_000;
const pauses = { first: 250, longest: 5_000 };

/**
 * Tells everybody who listens to the channel, in this database. In a transaction of its own: Postgres lets commits with
 * a NOTIFY pass one at a time, so it does not belong into one that others wait for, nor behind every row.
 */
export async function notify(pool: pg.Pool, channel: string, payload: string): Promise<void> {
  await pool.query('SELECT pg_notify($1, $2)', [channel, payload]);
}

export interface ListenOptions {
  readonly url: string;
  readonly channel: string;
  readonly heard: (payload: string) => void;
  /** Told when the connection cannot be had, or broke; another follows. */
  readonly onError: (error: unknown) => void;
}

export interface Listener {
  stop(): Promise<void>;
}

/**
 * Hears what is told on a channel, on a connection of its own: one that goes through a pooler has to keep its session.
 * What is told while there is no connection is lost: whoever listens looks for himself now and then.
 */
export function listenTo({ url, channel, heard, onError }: ListenOptions): Listener {
  const stopping = new AbortController();
  let client: pg.Client | undefined;

  /** Resolves when the connection has ended; with how long it was heard on, in milliseconds. */
  async function listen(): Promise<number> {
    const current = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: patience,
      query_timeout: patience,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    client = current;
    const ended = new Promise<void>((resolve) => current.once('end', resolve));
    current.on('error', onError);
    current.on('notification', ({ payload }) => heard(payload ?? ''));
    try {
      await current.connect();
      await current.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      const since = performance.now();
      if (!stopping.signal.aborted) await ended;
      return performance.now() - since;
    } finally {
      await current.end().catch(() => {});
    }
  }

  async function keepListening(): Promise<void> {
    for (let pause = pauses.first; !stopping.signal.aborted; pause = Math.min(pause * 2, pauses.longest)) {
      const lasted = await listen().catch((error: unknown) => {
        onError(error);
        return 0;
      });
      if (lasted > pauses.longest) pause = pauses.first;
      await sleep(pause, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  }

  const kept = keepListening();
  return {
    async stop() {
      stopping.abort();
      await client?.end().catch(() => {});
      await kept;
    },
  };
}
