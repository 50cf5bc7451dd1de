import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '@attribution/runtime';
import pg from 'pg';
import type { Logger } from 'pino';

export interface DatabaseClockOptions {
  readonly url: string;
  readonly logger: Logger;
  /** How often the clock is compared with the database's. */
  readonly intervalMs?: number;
}

export interface DatabaseClock extends Clock {
  stop(): void;
}

/** For opening a connection, and for the query. */
const timeoutMs = 3_000;
const firstReading = { attempts: 10, pauseMs: 500 };
/** A difference that changes by less than this is not logged. */
const toleratedMs = 2_000;

/**
 * The database's time. All processes of a service share it, whatever their machines' clocks say, because a process compares
 * times that another one wrote (due, taken, expired) with its own now (ADR 25). Between two readings, and while the database
 * is unavailable, the monotonic clock carries it on. Rejects when the database cannot be read at the start.
 */
export async function followDatabaseClock({
  url,
  logger,
  intervalMs = 30_000,
}: DatabaseClockOptions): Promise<DatabaseClock> {
  let offset = await readFirst(url);
  let loggedDifference = 0;
  const stopping = new AbortController();

  const now = () => offset + performance.now();
  function logDifference(): void {
    const difference = Math.round(Date.now() - now());
    if (Math.abs(difference - loggedDifference) < toleratedMs) return;
    logger.warn({ milliseconds: difference }, 'This machine’s clock is not the database’s, which counts');
    loggedDifference = difference;
  }
  async function follow({ signal }: AbortController): Promise<void> {
    for (;;) {
      await sleep(intervalMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      // While the database is unavailable, the last offset stays in use.
      offset = (await readOffset(url).catch(() => undefined)) ?? offset;
      logDifference();
    }
  }

  logDifference();
  void follow(stopping);
  return { now: () => new Date(now()), stop: () => stopping.abort() };
}

async function readFirst(url: string): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await readOffset(url);
    } catch (error) {
      if (attempt === firstReading.attempts) throw error;
      await sleep(firstReading.pauseMs);
    }
  }
}

/**
 * Milliseconds from the epoch to the zero of this process's monotonic clock, accurate to half of the query's duration. It
 * opens its own connection: the pool may be busy, and the wait for a connection would count as the query's duration.
 */
async function readOffset(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs });
  client.on('error', () => {});
  try {
    await client.connect();
    const began = performance.now();
    const { rows } = await client.query<{ now: string }>('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now');
    return Number(rows[0]?.now) - (began + performance.now()) / 2;
  } finally {
    await client.end().catch(() => {});
  }
}
