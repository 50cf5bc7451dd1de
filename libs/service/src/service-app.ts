import type { ServiceName } from '@attribution/contracts';
import type { Database, SqlTransaction } from '@attribution/database';
import { createByteBudget, createRefusalLog, observeBudget, observeHttp, observeRefusals } from '@attribution/http';
import type { Outbox, Transport } from '@attribution/messaging';
import type { Clock, RunningRole } from '@attribution/runtime';
import { attemptWithin, defaultBudgets } from '@attribution/runtime';
import type { Tracing } from '@attribution/tracing';
import type { Express } from 'express';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { closeApp, createApp } from './app.ts';
import { createAuditRecorder, type WriteAudit } from './audit.ts';
import { createFileBudget } from './file-budget.ts';
import { type HealthChecks, serveHealth } from './health.ts';
import { createIdempotency } from './idempotency.ts';
import type { Implementation } from './implement.ts';
import { observePool } from './pool-metrics.ts';
import type { ServiceDependencies } from './service-dependencies.ts';
import { createCallerTurns } from './turns.ts';

/** For reading a gauge during a scrape, because Prometheus does not wait long. */
const scrapeTimeoutMs = 2_000;

interface ServiceAppOptions<Client extends SqlTransaction, Tx extends SqlTransaction>
  extends Pick<ServiceDependencies, 'verifier' | 'internal' | 'problemBase' | 'checkAnswers' | 'bodies' | 'files'> {
  readonly name: ServiceName;
  readonly role: RunningRole;
  readonly implementations: readonly Implementation[];
  readonly database: Database<Client, Tx>;
  readonly transport: Transport | undefined;
  readonly registry: Registry;
  /** Called before metrics are written out, to update gauges. */
  readonly refreshes: readonly (() => Promise<void>)[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracing: Tracing;
  readonly outbox: Outbox;
  /** Absent in a service without endpoints whose requests are recorded. */
  readonly writeAudit: WriteAudit | undefined;
}

/** The HTTP side of a service: its endpoints (a worker has none), health and metrics. */
export function createServiceApp<Client extends SqlTransaction, Tx extends SqlTransaction>(
  options: ServiceAppOptions<Client, Tx>,
): { readonly app: Express; retire(): void; close(): Promise<void> } {
  const { name, role, database, clock, logger, registry, tracing, verifier, problemBase, checkAnswers } = options;
  const { bodies = createByteBudget({ limit: defaultBudgets.body }) } = options;
  const { files = createFileBudget(defaultBudgets.spool) } = options;
  observeBudget(registry, name, 'bodies', bodies);
  observeBudget(registry, name, 'files', files);
  let retired = false;
  const recorder = options.writeAudit && createAuditRecorder({ database, write: options.writeAudit, clock });
  const countLost = observeRefusals(registry, name);
  const refusals =
    recorder &&
    createRefusalLog({
      write: recorder.refusals,
      onLost(count, err) {
        countLost(count);
        if (err) logger.warn({ err, count }, 'Refused requests could not be recorded');
      },
      now: () => clock.now(),
    });
  const app = createApp({
    ...{ verifier, logger, problemBase, tracing, checkAnswers, bodies, files },
    turns: createCallerTurns(registry, name),
    recorder,
    outbox: options.outbox,
    implementations: role === 'worker' ? [] : options.implementations,
    internal: options.internal,
    idempotency: createIdempotency(database, clock),
    metrics: observeHttp(registry, name),
  });
  serveHealth(app, {
    ...healthChecks(options),
    stopping: () => retired,
    registry,
    refresh: refreshing(options),
    problemBase,
  });
  closeApp(app, { logger, problemBase, ...(refusals && { refusals }) });
  return {
    app,
    retire() {
      retired = true;
    },
    close: async () => refusals?.close(),
  };
}

/** Requests need no broker: their events wait in the outbox. A worker can do nothing without one. */
function healthChecks<Client extends SqlTransaction, Tx extends SqlTransaction>({
  role,
  database,
  transport,
}: ServiceAppOptions<Client, Tx>): { checks: HealthChecks; tolerated: HealthChecks } {
  const answering = { database: () => database.ping() };
  const broker: HealthChecks = transport ? { broker: () => transport.check() } : {};
  return role === 'worker'
    ? { checks: { ...answering, ...broker }, tolerated: {} }
    : { checks: answering, tolerated: broker };
}

/** A gauge that cannot be read is left out, because the other metrics are needed most while something is down. */
function refreshing<Client extends SqlTransaction, Tx extends SqlTransaction>(options: ServiceAppOptions<Client, Tx>) {
  const { name, registry, database, refreshes } = options;
  const pool = observePool(registry, name, database.pool);
  const ping = async () => {
    await database.ping();
    return true;
  };
  return async () => {
    await Promise.all([
      attemptWithin(scrapeTimeoutMs, ping).then((answered = false) => pool.up(answered)),
      ...refreshes.map((refresh) => refresh()),
    ]);
  };
}
