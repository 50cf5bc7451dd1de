import type { Internal, Verifier } from '@attribution/auth';
import type { ServiceName, Topic } from '@attribution/contracts';
import {
  type Database,
  type Listener,
  listenTo,
  type NewClient,
  openDatabase,
  type PrismaLike,
  type SqlTransaction,
} from '@attribution/database';
import { observeHttp } from '@attribution/http';
import {
  createConsumer,
  createOutbox,
  createRelay,
  deadLetterTopic,
  type EventHandler,
  type Outbox,
  observeBroker,
  observeEvents,
  observeMessaging,
  type Relay,
  type Transport,
} from '@attribution/messaging';
import { attemptWithin, type Clock, type RunningRole, systemClock, withDeadline } from '@attribution/runtime';
import { noTracing, outsideTraces, type Tracing } from '@attribution/tracing';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { closeApp, createApp } from './app.ts';
import { serveHealth } from './health.ts';
import { createHints } from './hints.ts';
import { createIdempotency } from './idempotency.ts';
import type { Implementation } from './implement.ts';
import { observeJobs } from './job-metrics.ts';
import { type Job, type RunningJobs, startJobs } from './jobs.ts';
import { observePool } from './pool-metrics.ts';
import { commonPurges, purgeJobs } from './purges.ts';
import { wakeChannel, wakeWorkers } from './wake.ts';

/** What a process gives each of its services. */
export interface ServiceParts {
  readonly databaseUrl: string;
  readonly poolSize?: number;
  /** Milliseconds until a statement is given up. */
  readonly statementTimeout?: number;
  /** What this process does of the service's work. Default: all of it. */
  readonly role?: RunningRole;
  /** An `api` needs none: what it has to tell waits in the outbox for a worker. */
  readonly transport?: Transport | undefined;
  readonly verifier: Verifier;
  readonly internal: Internal;
  readonly logger: Logger;
  /** Default: nothing is recorded. */
  readonly tracing?: Tracing;
  readonly problemBase: string;
  /** Checks every answer against its contract. */
  readonly checkAnswers: boolean;
  readonly clock?: Clock;
}

/** What a service is made of. */
interface ServiceContents<Tx> {
  readonly implementations: readonly Implementation[];
  /** The topics that this service writes to. */
  readonly publishes: readonly Topic[];
  readonly handlers?: readonly EventHandler<Tx>[];
  readonly jobs?: readonly Job[];
}

export interface Service {
  readonly name: ServiceName;
  readonly app: Express;
  /** Starts the relay and the jobs; the transport is the process's to start. */
  start(): void;
  /** Says from now on that it is not ready, and serves on. */
  retire(): void;
  /** Ends the jobs and publishes what the outbox holds, until `deadline` (ms since the epoch). */
  drain(deadline: number): Promise<void>;
  close(): Promise<void>;
}

export interface OpenService<Client extends SqlTransaction, Tx extends SqlTransaction> {
  readonly database: Database<Client, Tx>;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Runs a job now, or has a worker run it. */
  wake(job: string): void;
  assemble(contents: ServiceContents<Tx>): Service;
}

/** Among the names of jobs, when workers are woken. */
const relayName = 'relay';

/** Milliseconds that a part may take to tell how it is, when metrics are asked for: Prometheus does not wait for long. */
const askedFor = 2_000;

/** Opens a service's own parts; `assemble` makes the service of them and of what it implements. */
export function openService<Client extends PrismaLike<Tx>, Tx extends SqlTransaction>(
  name: ServiceName,
  parts: ServiceParts,
  newClient: NewClient<Client>,
): OpenService<Client, Tx> {
  const { role = 'all', tracing = noTracing, clock = systemClock, problemBase } = parts;
  const transport = role === 'api' ? undefined : parts.transport;
  if (role !== 'api' && !transport) throw new Error(`${name}: nobody but an api does without a transport`);
  const logger = parts.logger.child({ service: name });
  const database = openDatabase<Client, Tx>(
    {
      url: parts.databaseUrl,
      ...(parts.poolSize !== undefined && { poolSize: parts.poolSize }),
      ...(parts.statementTimeout !== undefined && { statementTimeout: parts.statementTimeout }),
      // A connection outlives the request that it was opened for.
      onError: (err) => outsideTraces(() => logger.warn({ err }, 'A database connection broke; the pool replaces it')),
    },
    newClient,
  );
  const registry = new Registry();
  const relay: Relay | undefined = transport && createRelay({ pool: database.pool, transport, logger, tracing });
  const hints = relay ? undefined : createHints((of) => wakeWorkers(database.pool, of));
  let running: RunningJobs | undefined;
  let listener: Listener | undefined;
  let retired = false;

  function wakeHere(of: string): void {
    if (of === relayName) relay?.wake();
    else running?.wake(of);
  }
  const wake = hints ? hints.give : wakeHere;
  const outbox = createOutbox(() => wake(relayName));
  const deaf = (err: unknown) =>
    logger.warn({ err }, 'Hints are not heard; the outbox and the jobs are looked after all the same');

  /** Hears events, and tells of the outbox. */
  function openMessaging(
    carrier: Transport,
    { publishes, handlers }: Required<Pick<ServiceContents<Tx>, 'publishes' | 'handlers'>>,
  ) {
    const metrics = observeMessaging(registry, name, database.pool);
    const broker = observeBroker(registry, name, carrier);
    const consumer = createConsumer<Tx>({
      ...{ service: name, database, outbox, handlers, logger, tracing },
      metrics: observeEvents(registry, name, handlers),
      onDeadLetter: metrics.countDeadLetter,
    });
    carrier.declare([...publishes, deadLetterTopic(name), ...handlers.map((handler) => handler.event.topic)]);
    if (handlers.length > 0) carrier.subscribe(consumer.subscription);
    return { refreshes: [metrics.refresh, broker.refresh], replay: async () => void (await consumer.replay()) };
  }

  return {
    database,
    outbox,
    clock,
    logger,
    wake,

    assemble({ implementations, publishes, handlers = [], jobs = [] }) {
      const behind = transport && openMessaging(transport, { publishes, handlers });
      const idempotency = createIdempotency(database, clock);
      const metrics = observeHttp(registry, name);
      const pool = observePool(registry, name, database.pool);
      const jobMetrics = observeJobs(registry, name);

      /** What cannot be told is left out: the rest is needed all the more then. */
      async function refresh(): Promise<void> {
        const ping = async () => {
          await database.ping();
          return true;
        };
        await Promise.all([
          attemptWithin(askedFor, ping).then((answered = false) => pool.up(answered)),
          ...(behind?.refreshes ?? []).map((one) => one()),
        ]);
      }

      const app = createApp({
        implementations: role === 'worker' ? [] : implementations,
        verifier: parts.verifier,
        verifyInternal: parts.internal.verify,
        idempotency,
        logger,
        problemBase,
        metrics,
        tracing,
        checkAnswers: parts.checkAnswers,
      });
      const broker = transport ? { broker: () => transport.check() } : {};
      serveHealth(app, {
        // Requests need no broker: what they tell waits in the outbox. A worker is nothing without.
        checks: { database: () => database.ping(), ...(role === 'worker' && broker) },
        tolerated: role === 'worker' ? {} : broker,
        stopping: () => retired,
        registry,
        refresh,
        problemBase,
      });
      closeApp(app, { logger, problemBase });

      const housekeeping: Job[] = [
        ...purgeJobs(commonPurges(database.pool, clock)),
        ...(behind ? [{ name: 'replay-dead-letters', every: 2_000, run: behind.replay }] : []),
      ];
      return {
        name,
        app,
        start() {
          relay?.start();
          const own = [...housekeeping, ...jobs].filter(({ runsIn = 'worker' }) => role === 'all' || role === runsIn);
          running = startJobs(own, database.pool, logger, jobMetrics);
          if (role === 'worker')
            listener = listenTo({ url: parts.databaseUrl, channel: wakeChannel, heard: wakeHere, onError: deaf });
        },
        retire() {
          retired = true;
        },
        async drain(deadline) {
          await withDeadline(deadline, Promise.allSettled([listener?.stop(), hints?.stop()]));
          await withDeadline(deadline, running?.stop());
          await withDeadline(deadline, relay?.stop(deadline));
        },
        close: () => database.close(),
      };
    },
  };
}
