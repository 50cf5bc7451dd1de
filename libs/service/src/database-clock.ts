import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '@attribution/runtime';
import pg from 'pg';
import type { Logger } from 'pino';

export interface DatabaseClockOptions {
  readonly url: string;
  readonly logger: Logger;
  /** Milliseconds between two looks. */
  readonly every?: number;
}

export interface DatabaseClock extends Clock {
  stop(): void;
}

/** Milliseconds: for a connection, or an answer; between attempts at the first look, of which there are so many. */
const patience = 3_000;
const beginning = { pause: 500, attempts: 10 };
/** Milliseconds by which this machine's clock may be off without a word. */
const unsaid = 2_000;

/**
 * The database's time. All processes of a service have the same, whatever their machines' clocks say: what one of them
 * wrote down as due, taken or expired, another compares with now (ADR 25). Between two looks, and while the database is
 * away, it goes on by the monotonic clock. Rejects when the database does not answer at the beginning.
 */
export async function followDatabaseClock({
  url,
  logger,
  every = 30_000,
}: DatabaseClockOptions): Promise<DatabaseClock> {
  let offset = await firstLook(url);
  let said = 0;
  const stopping = new AbortController();

  const now = () => offset + performance.now();
  function sayIfApart(): void {
    const apart = Math.round(Date.now() - now());
    if (Math.abs(apart - said) < unsaid) return;
    logger.warn({ milliseconds: apart }, 'This machine’s clock is not the database’s, which counts');
    said = apart;
  }
  async function follow({ signal }: AbortController): Promise<void> {
    for (;;) {
      await sleep(every, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      // While it is away, nothing can be compared with anything.
      offset = (await look(url).catch(() => undefined)) ?? offset;
      sayIfApart();
    }
  }

  sayIfApart();
  void follow(stopping);
  return { now: () => new Date(now()), stop: () => stopping.abort() };
}

async function firstLook(url: string): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await look(url);
    } catch (error) {
      if (attempt === beginning.attempts) throw error;
      await sleep(beginning.pause);
    }
  }
}

/**
 * Milliseconds from the beginning of this process's monotonic clock to that of the epoch, right to half of the time that
 * the answer takes. By a connection of its own: the pool may be busy, and a wait for it would count as the answer's.
 */
async function look(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: patience, query_timeout: patience });
  client.on('error', () => {});
  try {
    await client.connect();
    const asked = performance.now();
    const { rows } = await client.query<{ now: string }>('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now');
    return Number(rows[0]?.now) - (asked + performance.now()) / 2;
  } finally {
    await client.end().catch(() => {});
  }
}
