import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** For opening a connection, and for each query. */
const timeoutMs = 5_000;
/** Between two attempts to connect. */
const pausesMs = { first: 250, longest: 5_000 };

/**
 * Notifies all listeners of the channel in this database. It runs in its own transaction: Postgres serializes commits that
 * contain a NOTIFY, so it must not be part of a transaction that holds locks, nor happen for every row.
 */
export async function notify(pool: pg.Pool, channel: string, payload: string): Promise<void> {
  await pool.query('SELECT pg_notify($1, $2)', [channel, payload]);
}

export interface ListenOptions {
  readonly url: string;
  readonly channel: string;
  readonly onNotification: (payload: string) => void;
  /** Called when a connection broke or cannot be opened. Another attempt follows. */
  readonly onError: (error: unknown) => void;
}

export interface Listener {
  stop(): Promise<void>;
}

/**
 * Listens to a channel on its own connection, which a pooler must not share between sessions. Notifications are lost while
 * there is no connection, so listeners must also poll.
 */
export function listenTo({ url, channel, onNotification, onError }: ListenOptions): Listener {
  const stopping = new AbortController();
  let client: pg.Client | undefined;

  /** Resolves when the connection has ended, with the milliseconds for which it listened. */
  async function listen(): Promise<number> {
    const current = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    client = current;
    const ended = new Promise<void>((resolve) => current.once('end', resolve));
    current.on('error', onError);
    current.on('notification', ({ payload }) => onNotification(payload ?? ''));
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
    for (let pause = pausesMs.first; !stopping.signal.aborted; pause = Math.min(pause * 2, pausesMs.longest)) {
      const lasted = await listen().catch((error: unknown) => {
        onError(error);
        return 0;
      });
      if (lasted > pausesMs.longest) pause = pausesMs.first;
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
