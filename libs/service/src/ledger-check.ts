import type { Sql } from '@attribution/database';
import type { Clock } from '@attribution/runtime';
import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import type { Job } from './jobs.ts';

interface LedgerCheckOptions {
  readonly service: string;
  /** Of a service with the table `ledger_checks`. */
  readonly sql: Sql;
  readonly clock: Clock;
  readonly registry: Registry;
  readonly logger: Logger;
  /** Compares figures that should agree. `faults` are lines for people. */
  readonly check: (stopping: AbortSignal) => Promise<{ readonly compared: string; readonly faults: readonly string[] }>;
}

interface Checked {
  readonly checked_at: Date;
  readonly differences: number;
}

const minute = 60_000;
const day = 24 * 60 * minute;
/** How many differences are logged. `ops ledgers` prints all. */
const logged = 20;

/**
 * A job that checks a ledger once a day, by one replica, and keeps the outcome in the database, so that a restart neither
 * checks again nor forgets a difference.
 */
export function ledgerCheck({ service, sql, clock, registry, logger, check }: LedgerCheckOptions): Job {
  const labelNames = ['service'] as const;
  const registers = [registry];
  const differences = new Gauge({
    name: 'ledger_differences',
    help: 'How many differences the latest check of the ledger has found',
    labelNames,
    registers,
  });
  const checkedAt = new Gauge({
    name: 'ledger_checked_timestamp_seconds',
    help: 'When the ledger was last checked',
    labelNames,
    registers,
  });

  return {
    name: 'check-ledger',
    every: 10 * minute,
    async run(stopping) {
      const latest = await findChecked(sql);
      const now = clock.now();
      const isDue = !latest || now.getTime() - latest.checked_at.getTime() >= day;
      const checked = isDue ? await checkNow(stopping, now) : latest;
      differences.set({ service }, checked.differences);
      checkedAt.set({ service }, checked.checked_at.getTime() / 1000);
    },
  };

  async function checkNow(stopping: AbortSignal, now: Date): Promise<Checked> {
    const { compared, faults } = await check(stopping);
    if (faults.length > 0)
      logger.error({ compared, differences: faults.length, faults: faults.slice(0, logged) }, 'The ledgers differ');
    else logger.info({ compared }, 'The ledgers agree');
    const checked = { checked_at: now, differences: faults.length };
    await keepChecked(sql, checked);
    return checked;
  }
}

async function findChecked(sql: Sql): Promise<Checked | undefined> {
  return (await sql.$queryRaw<Checked[]>`SELECT checked_at, differences FROM ledger_checks`)[0];
}

async function keepChecked(sql: Sql, { checked_at, differences }: Checked): Promise<void> {
  await sql.$executeRaw`
    INSERT INTO ledger_checks (id, checked_at, differences) VALUES (1, ${checked_at}, ${differences})
    ON CONFLICT (id) DO UPDATE SET checked_at = excluded.checked_at, differences = excluded.differences`;
}
