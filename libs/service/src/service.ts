import type { Internal, Verifier } from '@attribution/auth';
import type { ServiceName, Topic } from '@attribution/contracts';
import {
  type Database,
  type NewClient,
  openDatabase,
  type PrismaLike,
  type SqlTransaction,
} from '@attribution/database';
import {
  createConsumer,
  createOutbox,
  createRelay,
  deadLetterTopic,
  type EventHandler,
  type Outbox,
  observeMessaging,
  type Transport,
} from '@attribution/messaging';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { closeApp, createApp } from './app.ts';
import { by } from './by.ts';
import { type Clock, systemClock } from './clock.ts';
import { serveHealth } from './health.ts';
import { createIdempotency } from './idempotency.ts';
import type { Implementation } from './implement.ts';
import { type Job, type RunningJobs, startJobs } from './jobs.ts';
import { observeHttp } from './metrics.ts';

/** What a process gives each of its services. */
export interface ServiceParts {
  readonly databaseUrl: string;
  readonly poolSize?: number;
  /** Milliseconds until a statement is given up. */
  readonly statementTimeout?: number;
  readonly transport: Transport;
  readonly verifier: Verifier;
  readonly internal: Internal;
  readonly logger: Logger;
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
  /** Runs a job now. */
  wake(job: string): void;
  assemble(contents: ServiceContents<Tx>): Service;
}

const day = 24 * 60 * 60 * 1000;
/** Longer than Kafka keeps an event, so that no redelivery finds its mark gone. */
const inboxKeptDays = 30;
const purgedAtOnce = 10_000;
const purgeInbox = `
  DELETE FROM inbox WHERE (consumer, event_id) IN (
    SELECT consumer, event_id FROM inbox WHERE processed_at < now() - make_interval(days => $1) LIMIT $2)`;
/** A dead letter may be older than what is gone, and is replayed when somebody likes. */
const purgeTombstones = `
  DELETE FROM projection_tombstones WHERE id IN (
    SELECT id FROM projection_tombstones WHERE deleted_at < now() - make_interval(days => $1) LIMIT $2)
  AND NOT EXISTS (SELECT FROM dead_letters)`;

/** Opens a service's own parts; `assemble` makes the service of them and of what it implements. */
export function openService<Client extends PrismaLike<Tx>, Tx extends SqlTransaction>(
  name: ServiceName,
  parts: ServiceParts,
  newClient: NewClient<Client>,
): OpenService<Client, Tx> {
  const { transport, problemBase } = parts;
  const logger = parts.logger.child({ service: name });
  const database = openDatabase<Client, Tx>(
    {
      url: parts.databaseUrl,
      ...(parts.poolSize !== undefined && { poolSize: parts.poolSize }),
      ...(parts.statementTimeout !== undefined && { statementTimeout: parts.statementTimeout }),
      onError: (err) => logger.warn({ err }, 'A database connection broke; the pool replaces it'),
    },
    newClient,
  );
  const registry = new Registry();
  const messaging = observeMessaging(registry, name, database.pool);
  const relay = createRelay({ pool: database.pool, transport, logger });
  const outbox = createOutbox(() => relay.wake());
  let running: RunningJobs | undefined;
  let retired = false;

  return {
    database,
    outbox,
    clock: parts.clock ?? systemClock,
    logger,
    wake: (job) => running?.wake(job),

    assemble({ implementations, publishes, handlers = [], jobs = [] }) {
      const consumer = createConsumer<Tx>({
        service: name,
        database,
        outbox,
        handlers,
        logger,
        onDeadLetter: messaging.countDeadLetter,
      });
      transport.declare([...publishes, deadLetterTopic(name), ...handlers.map((handler) => handler.event.topic)]);
      if (handlers.length > 0) transport.subscribe(consumer.subscription);

      const idempotency = createIdempotency(database, parts.clock ?? systemClock);
      const metrics = observeHttp(registry, name);
      const app = createApp({
        implementations,
        verifier: parts.verifier,
        verifyInternal: parts.internal.verify,
        idempotency,
        logger,
        problemBase,
        metrics,
        checkAnswers: parts.checkAnswers,
      });
      serveHealth(app, {
        checks: { database: () => database.ping() },
        // Requests need no broker: what they tell waits in the outbox.
        tolerated: { broker: () => transport.check() },
        stopping: () => retired,
        registry,
        refresh: messaging.refresh,
        problemBase,
      });
      closeApp(app, { logger, problemBase });

      const housekeeping: Job[] = [
        { name: 'purge-idempotency-keys', every: day / 24, run: () => idempotency.purge() },
        { name: 'replay-dead-letters', every: 2_000, run: async () => void (await consumer.replay()) },
        {
          name: 'purge-inbox',
          every: day / 24,
          run: async () => {
            // In parts, as one statement over everything could take longer than a statement may.
            for (const purge of [purgeInbox, purgeTombstones])
              while ((await database.pool.query(purge, [inboxKeptDays, purgedAtOnce])).rowCount === purgedAtOnce);
          },
        },
      ];
      return {
        name,
        app,
        start() {
          relay.start();
          running = startJobs([...housekeeping, ...jobs], database.pool, logger);
        },
        retire() {
          retired = true;
        },
        async drain(deadline) {
          await by(deadline, running?.stop());
          await by(deadline, relay.stop(deadline));
        },
        close: () => database.close(),
      };
    },
  };
}
