import { type Envelope, events, type ServiceName } from '@attribution/contracts';
import { type Database, isHeldUp, isServerTrouble, type SqlTransaction } from '@attribution/database';
import { noTracing, type Tracing, traceFields } from '@attribution/tracing';
import type { Logger } from 'pino';
import { z } from 'zod';
import { gatherBatches, type Load } from './batches.ts';
import { createDeadLetters } from './dead-letters.ts';
import type { EventMetrics } from './event-metrics.ts';
import { type EventHandler, indexDeclared, indexHandlers, runHandlers, takeLocks, UnknownEvent } from './handlers.ts';
import { markDone } from './inbox.ts';
import { envelopeOf } from './letter.ts';
import type { Outbox } from './outbox.ts';
import { beginSpans } from './spans.ts';
import { asError, byKey, type Failure, inParallel, type Message, type Subscription, undone } from './transport.ts';
import type { Unreadable } from './unreadable.ts';

export interface ConsumerOptions<Tx extends SqlTransaction> {
  readonly service: ServiceName;
  readonly database: Pick<Database<SqlTransaction, Tx>, 'transaction' | 'sqlTransaction' | 'ping'>;
  readonly outbox: Outbox;
  readonly handlers: readonly EventHandler<Tx>[];
  readonly logger: Logger;
  /** Told of each event that was given up. */
  readonly onDeadLetter?: () => void;
  readonly metrics?: EventMetrics;
  /** Default: nothing is recorded. */
  readonly tracing?: Tracing;
  /** Milliseconds before the second and each further attempt. */
  readonly backoff?: readonly number[];
}

export interface Consumer {
  readonly subscription: Subscription;
  /** Handles the dead letters that somebody asked to be replayed; returns how many succeeded. */
  replay(): Promise<number>;
}

const defaultBackoff = [50, 200, 1_000, 5_000];
/** What the events of one transaction cost at most, where one that is handled with others costs 1. */
const batchCost = 500;
/** So that what their handlers lock is not held for long. */
const oneByOneCost = 10;
/** Batches at once; a second one keeps the database busy while this process reads and writes. */
const width = 2;
/** Keys at once, when events are handled in transactions of their own. */
const keysAtOnce = 4;

export function createConsumer<Tx extends SqlTransaction>(options: ConsumerOptions<Tx>): Consumer {
  const { service, database, outbox, handlers, logger, metrics, backoff = defaultBackoff } = options;
  const { tracing = noTracing } = options;
  const handlersOf = indexHandlers(handlers);
  const isDeclared = indexDeclared(events);
  const deadLetters = createDeadLetters(service, outbox);

  /** The effects, and the marks that they took place, in the caller's transaction. */
  async function effects(tx: Tx, envelopes: readonly Envelope[], alone = false): Promise<void> {
    const marked = await markDone(tx, service, envelopes);
    await takeLocks(tx, marked, handlersOf, alone);
    await runHandlers(tx, marked, handlersOf);
  }

  const isOneByOne = (envelope: Envelope) => handlersOf(envelope).some((handler) => handler.oneByOne);
  const costOf = ({ envelope }: Message) => (isOneByOne(envelope) ? oneByOneCost : 1);

  /** What takes events together (`onBatch`) asks for no more than SQL: it is spared what a client of models costs. */
  function transaction(envelopes: readonly Envelope[], work: (tx: Tx) => Promise<void>): Promise<void> {
    if (envelopes.some(isOneByOne)) return database.transaction(work);
    return database.sqlTransaction((tx) => work(tx as SqlTransaction as Tx));
  }

  const handleBatch = gatherBatches<Message, readonly Failure[]>({ budget: batchCost, width, costOf, work: attempt });

  /** All loads in one transaction; where that fails, each in one of its own; where that fails, event by event. */
  async function attempt(loads: readonly Load<Message, readonly Failure[]>[]): Promise<void> {
    const messages = loads.flatMap(({ items }) => items);
    const spans = beginSpans(tracing, messages, 'consumer');
    try {
      const envelopes = spans.messages.map(({ envelope }) => envelope);
      await transaction(envelopes, (tx) => effects(tx, envelopes));
      spans.end();
      metrics?.onHandled(envelopes);
      for (const { settle } of loads) settle([]);
    } catch (error) {
      spans.end(() => error);
      logger.warn({ err: error, events: messages.length }, 'Events failed together; trying fewer at once');
      const [first, ...others] = loads;
      if (others.length > 0) for (const load of loads) void attempt([load]);
      else first?.settle(handleByKeys(messages));
    }
  }

  async function handle(messages: readonly Message[]): Promise<readonly Failure[]> {
    const failures: Failure[] = [];
    // The rest is nothing to this service. What nobody declared may be something to its next release: it is not passed over.
    let left = messages.filter(({ envelope }) => handlersOf(envelope).length > 0 || !isDeclared(envelope));
    while (left.length > 0) {
      const batch = left.slice(0, batchLength(left));
      const failed = await handleBatch(batch);
      failures.push(...failed);
      const waiting = new Set(undone(left, failed));
      left = left.slice(batch.length).filter((message) => !waiting.has(message));
    }
    return failures;
  }

  /** How many of the messages share the next transaction. */
  function batchLength(messages: readonly Message[]): number {
    let cost = 0;
    const end = messages.findIndex((message) => (cost += costOf(message)) > batchCost);
    return end === -1 ? messages.length : end;
  }

  async function handleByKeys(messages: readonly Message[]): Promise<readonly Failure[]> {
    const failures: Failure[] = [];
    await inParallel(byKey(messages), keysAtOnce, async (lane) => {
      for (const message of lane) {
        // Where several keys found no database, the next would wait for it in vain.
        const cause = failures.length < keysAtOnce ? await handleOne(message).then(none, asError) : failures[0]?.error;
        if (!cause) continue;
        failures.push({ message, error: cause });
        return;
      }
    });
    return failures;
  }

  async function handleOne(message: Message): Promise<void> {
    const { envelope } = message;
    for (let attempt = 1; ; attempt++) {
      const spans = beginSpans(tracing, [message], 'consumer', { attempt });
      try {
        const envelopes = spans.messages.map((one) => one.envelope);
        await database.transaction((tx) => effects(tx, envelopes));
        spans.end();
        metrics?.onHandled(envelopes);
        return;
      } catch (error) {
        spans.end(() => error);
        metrics?.onFailed(envelope);
        // Without a database, with one that has no room, or behind a lock that somebody holds for long, nothing can be said
        // of the event: the transport brings it again. One that is always too slow keeps its key waiting, which an alert tells.
        if (isServerTrouble(error) || isHeldUp(error)) throw error;
        await database.ping();
        const wait = isHopeless(error) ? undefined : backoff[attempt - 1];
        if (wait === undefined) return bury(message, error, attempt);
        logger.warn(
          { err: error, event_id: envelope.event_id, type: envelope.type, attempt, ...traceOf(envelope) },
          'An event failed; trying again',
        );
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
  }

  async function bury(message: Message, cause: unknown, attempts: number): Promise<void> {
    const first = await database.transaction((tx) => deadLetters.bury(tx, message, cause, attempts));
    if (!first) return; // It was there: its offset was not committed in time.
    const { event_id, type } = message.envelope;
    const error = asError(cause).message.slice(0, 2000);
    logger.error(
      { event_id, type, attempts, error, ...traceOf(message.envelope) },
      'An event lies among the dead letters',
    );
    options.onDeadLetter?.();
  }

  async function setAside(unreadable: Unreadable): Promise<void> {
    const first = await database.transaction((tx) => deadLetters.setAside(tx, unreadable));
    if (!first) return;
    const { topic, partition, offset, reason } = unreadable;
    logger.error({ topic, partition, offset, error: reason }, 'A message that is no event lies among the dead letters');
    options.onDeadLetter?.();
  }

  /** One letter in one transaction: gone with its effect done, or still there with its new error. */
  async function replayOne(): Promise<'done' | 'failed' | 'none'> {
    let id: bigint | undefined;
    let replayed: ReturnType<typeof beginReplay> | undefined;
    try {
      const outcome = await database.transaction(async (tx) => {
        const letter = await deadLetters.takeRequested(tx);
        id = letter?.id;
        if (!letter) return 'none';
        replayed = beginReplay({ topic: letter.topic, envelope: envelopeOf(letter.letter) });
        await effects(tx, replayed.envelopes, true); // What came after it in its key may be handled at this moment.
        await deadLetters.remove(tx, letter.id);
        return 'done';
      });
      replayed?.end();
      return outcome;
    } catch (error) {
      replayed?.end(error);
      const failed = id;
      if (failed === undefined || isServerTrouble(error) || isHeldUp(error)) throw error;
      await database.transaction((tx) => deadLetters.putBack(tx, failed, error));
      return 'failed';
    }
  }

  /** To whoever measures, a replay is one more attempt at its event. */
  function beginReplay(message: Message) {
    const spans = beginSpans(tracing, [message], 'consumer', { replay: true });
    const envelopes = spans.messages.map(({ envelope }) => envelope);
    return {
      envelopes,
      end(failure?: unknown) {
        spans.end(() => failure);
        if (failure === undefined) metrics?.onHandled(envelopes);
        else metrics?.onFailed(message.envelope);
      },
    };
  }

  return {
    subscription: { group: service, topics: [...new Set(handlers.map((h) => h.event.topic.name))], handle, setAside },
    async replay() {
      let done = 0;
      for (let outcome = await replayOne(); outcome !== 'none'; outcome = await replayOne()) {
        if (outcome === 'done') done++;
      }
      return done;
    },
  };
}

const none = () => undefined;
const traceOf = ({ traceparent }: Envelope) => (traceparent === null ? {} : traceFields({ traceparent }));
/** It fails however often it is tried. */
const isHopeless = (error: unknown) => error instanceof z.ZodError || error instanceof UnknownEvent;
