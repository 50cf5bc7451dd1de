import type { ServiceName, Topic } from '@attribution/contracts';
import type { Database, DatabaseOptions, SqlTransaction } from '@attribution/database';
import {
  type Completion,
  createOutbox,
  createRelay,
  type EventHandler,
  type Outbox,
  type Relay,
} from '@attribution/messaging';
import { type Clock, systemClock, withDeadline } from '@attribution/runtime';
import { noTracing, outsideTraces } from '@attribution/tracing';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import type { WriteAudit } from './audit.ts';
import type { Implementation } from './implement.ts';
import { observeJobs } from './job-metrics.ts';
import { type Job, startJobs } from './jobs.ts';
import { commonPurges, purgeJobs } from './purges.ts';
import { createServiceApp } from './service-app.ts';
import type { ServiceDependencies } from './service-dependencies.ts';
import { openMessaging } from './service-messaging.ts';
import { createWaking } from './waking.ts';

/** Everything that a service consists of. */
export interface AssembledContents<Tx> {
  readonly implementations: readonly Implementation[];
  readonly writeAudit?: WriteAudit | undefined;
  /** The topics that this service publishes to. */
  readonly publishes: readonly Topic[];
  readonly handlers?: readonly EventHandler<Tx>[];
  readonly jobs?: readonly Job[];
  /** Called before the relay and the jobs start. */
  start?(): void;
  /** Called while the jobs and the relay stop. It has until `deadline` (ms since the epoch). */
  drain?(deadline: number): Promise<void>;
}

export interface Service {
  readonly name: ServiceName;
  readonly app: Express;
  /** Starts the relay and the jobs. The process starts the transport. */
  start(): void;
  /** From now on `/readyz` responds that the service is not ready. It still serves requests. */
  retire(): void;
  /** Stops the jobs and publishes the outbox, until `deadline` (ms since the epoch). */
  drain(deadline: number): Promise<void>;
  close(): Promise<void>;
}

export interface OpenService<Client extends SqlTransaction, Tx extends SqlTransaction> {
  readonly database: Database<Client, Tx>;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where metrics are registered. */
  readonly registry: Registry;
  /** Runs a job now, or has a worker run it. */
  wake(job: string): void;
  assemble(contents: AssembledContents<Tx>): Service;
}

/** The relay's name where jobs and the relay are woken by name. */
const relayName = 'relay';
/** How often the service looks for dead letters that an operator has marked for replay. */
const replayIntervalMs = 2_000;

/** Opens a service's database and outbox. `assemble` then makes the service of these and its implementations. */
export function openService<Client extends SqlTransaction, Tx extends SqlTransaction>(
  name: ServiceName,
  dependencies: ServiceDependencies,
  openDatabase: (options: DatabaseOptions) => Database<Client, Tx>,
  completions: readonly Completion[] = [],
): OpenService<Client, Tx> {
  const { role = 'all', tracing = noTracing, clock = systemClock } = dependencies;
  const transport = role === 'api' ? undefined : dependencies.transport;
  if (role !== 'api' && !transport) throw new Error(`${name}: only an api can run without a transport`);
  const logger = dependencies.logger.child({ service: name });
  const database = openDatabase(databaseOptions(dependencies, logger));
  const registry = new Registry();
  const { pool } = database;
  const relay: Relay | undefined = transport && createRelay({ pool, transport, logger, tracing, completions });
  const waking = createWaking({ role, url: dependencies.databaseUrl, pool, logger });
  if (relay) waking.register(relayName, relay);
  const outbox = createOutbox(() => waking.wake(relayName));

  function assemble(contents: AssembledContents<Tx>): Service {
    const { implementations, publishes, handlers = [], jobs = [] } = contents;
    const messaging =
      transport && openMessaging({ name, registry, transport, database, outbox, publishes, handlers, logger, tracing });
    const { app, retire, close } = createServiceApp({
      ...{ ...dependencies, name, role, tracing, clock, logger, registry, database, transport, implementations },
      outbox,
      refreshes: messaging?.refreshes ?? [],
      writeAudit: contents.writeAudit,
    });
    const ownJobs = [
      ...purgeJobs(commonPurges(pool, clock)),
      ...(messaging ? [{ name: 'replay-dead-letters', every: replayIntervalMs, run: messaging.replay }] : []),
      ...jobs,
    ].filter(({ runsIn = 'worker' }: Job) => role === 'all' || role === runsIn);
    const jobMetrics = observeJobs(registry, name);
    let running: ReturnType<typeof startJobs> | undefined;

    return {
      name,
      app,
      retire,
      start() {
        contents.start?.();
        relay?.start();
        running = startJobs(ownJobs, pool, logger, jobMetrics);
        for (const job of ownJobs) waking.register(job.name, { wake: () => running?.wake(job.name) });
        waking.start();
      },
      async drain(deadline) {
        const own = Promise.try(() => contents.drain?.(deadline)).catch((err: unknown) =>
          logger.warn({ err }, 'The service could not finish what it had in hand'),
        );
        await withDeadline(deadline, waking.stop());
        await withDeadline(deadline, running?.stop());
        await withDeadline(deadline, close());
        await withDeadline(deadline, relay?.stop(deadline));
        await withDeadline(deadline, own);
      },
      close: () => database.close(),
    };
  }

  return { database, outbox, clock, logger, registry, wake: waking.wake, assemble };
}

const databaseOptions = (
  { databaseUrl: url, poolSize, statementTimeout, connectionTimeout }: ServiceDependencies,
  logger: Logger,
): DatabaseOptions => ({
  url,
  ...(poolSize !== undefined && { poolSize }),
  ...(statementTimeout !== undefined && { statementTimeout }),
  ...(connectionTimeout !== undefined && { connectionTimeout }),
  // A connection outlives the request that it was opened for, so its errors belong to no request's trace.
  onError: (err) => outsideTraces(() => logger.warn({ err }, 'A database connection broke; the pool replaces it')),
});
