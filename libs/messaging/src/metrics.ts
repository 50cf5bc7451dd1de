import type { Pool } from 'pg';
import { Counter, Gauge, type Registry } from 'prom-client';

interface OutboxState {
  readonly pending: number;
  readonly oldest: number;
  readonly attempts: number;
  readonly dead: number;
}

/** What waits in the outbox and among the dead letters, read from the database when asked. */
export function observeMessaging(registry: Registry, service: string, pool: Pool) {
  const labels = { service };
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['service'], registers: [registry] });
  const pending = gauge('outbox_pending', 'Events not published yet');
  const oldest = gauge('outbox_oldest_seconds', 'Age of the oldest event not published yet');
  const attempts = gauge('outbox_attempts_max', 'Most failed attempts of an event not published yet');
  const dead = gauge('dead_letters', 'Events given up and not replayed');
  const buried = new Counter({
    name: 'dead_letters_total',
    help: 'Events given up',
    labelNames: ['service'],
    registers: [registry],
  });

  return {
    countDeadLetter: () => buried.inc(labels),
    /** Reads the gauges anew: before the registry is written out. */
    async refresh(): Promise<void> {
      const { rows } = await pool.query<OutboxState>(
        `SELECT count(*)::int AS pending, coalesce(max(attempts), 0) AS attempts,
                coalesce(extract(epoch FROM now() - min(occurred_at)), 0)::float AS oldest,
                (SELECT count(*)::int FROM dead_letters) AS dead
         FROM outbox`,
      );
      const [state] = rows;
      if (!state) return;
      pending.set(labels, state.pending);
      oldest.set(labels, state.oldest);
      attempts.set(labels, state.attempts);
      dead.set(labels, state.dead);
    },
  };
}
