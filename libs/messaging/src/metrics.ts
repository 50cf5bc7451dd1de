import type { Pool } from 'pg';
import { Counter, Gauge, type Registry } from 'prom-client';
import { readOnScrape, scrapeTimeoutMs } from './gauges.ts';

/** Rows are counted up to this number: counting millions would outlast a scrape, just when the figure matters. */
const mostCounted = 100_000;

/** How many events wait in the outbox and among the dead letters, read from the database on each scrape: the same on every replica. */
export function observeMessaging(registry: Registry, service: string, pool: Pool, timeoutMs = scrapeTimeoutMs) {
  const labels = { service };
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['service'], registers: [registry] });
  const orMore = `at most counted to ${mostCounted + 1}`;
  const pending = gauge('outbox_pending', `Events not published yet, ${orMore}`);
  const oldest = gauge('outbox_oldest_seconds', 'Age of the first event not published yet');
  const attempts = gauge('outbox_attempts_max', `Most failed attempts of an event not published yet, of those counted`);
  const dead = gauge('dead_letters', `Events given up and not replayed, ${orMore}`);
  const buried = new Counter({
    name: 'dead_letters_total',
    help: 'Events given up',
    labelNames: ['service'],
    registers: [registry],
  });
  buried.inc(labels, 0);

  /** Gauges that one statement fills, each by the column of its name. */
  const filled = (gauges: Readonly<Record<string, Gauge>>, sql: string) =>
    readOnScrape(
      {
        async read() {
          const { rows } = await pool.query<Record<string, number>>(sql);
          for (const [column, one] of Object.entries(gauges)) one.set(labels, rows[0]?.[column] ?? 0);
        },
        forget() {
          for (const one of Object.values(gauges)) one.reset();
        },
      },
      timeoutMs,
    );
  /** Read apart: one that is late does not keep the others out of the scrape. */
  const readings = [
    filled(
      { oldest },
      'SELECT extract(epoch FROM now() - occurred_at)::float AS oldest FROM outbox ORDER BY sequence LIMIT 1',
    ),
    filled(
      { pending, attempts },
      `SELECT count(*)::int AS pending, coalesce(max(attempts), 0) AS attempts
       FROM (SELECT attempts FROM outbox ORDER BY sequence LIMIT ${mostCounted + 1}) AS counted`,
    ),
    filled(
      { dead },
      `SELECT count(*)::int AS dead FROM (SELECT FROM dead_letters LIMIT ${mostCounted + 1}) AS counted`,
    ),
  ];

  return {
    countDeadLetter: () => buried.inc(labels),
    /** To be called before each scrape. What cannot be read is left out of it. */
    async refresh(): Promise<void> {
      await Promise.all(readings.map((read) => read()));
    },
  };
}
