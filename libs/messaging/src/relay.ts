import type { Envelope } from '@attribution/contracts';
import { withAdvisoryLock } from '@attribution/database';
import { noTracing, type Tracing } from '@attribution/tracing';
import type { Pool, PoolClient } from 'pg';
import type { Logger } from 'pino';
import { beginSpans } from './spans.ts';
import { type Failure, laneOf, type Message, type PublishResult, type Transport } from './transport.ts';

export interface Relay {
  start(): void;
  /** There may be something to publish. */
  wake(): void;
  /** Publishes what is there, then stops; gives up at `deadline` (ms since the epoch). The rest stays in the outbox. */
  stop(deadline: number): Promise<void>;
}

export interface RelayOptions {
  readonly pool: Pool;
  readonly transport: Transport;
  readonly logger: Logger;
  /** Default: nothing is recorded. */
  readonly tracing?: Tracing;
  /** Events a pass takes at most. */
  readonly batchSize?: number;
  /** Milliseconds between looks when nobody wakes it: for what another replica left, or a wake-up lost in a crash. */
  readonly pollEvery?: number;
}

/** Events that a relay publishes at once, at most. */
export const relayBatchSize = 500;

const longestPause = 5_000;
/** Milliseconds after the last of them. */
const forgottenAfter = 60_000;
/** Another's pass takes milliseconds; what we were woken for may have missed it. */
const busyPause = 25;

/** A key whose event could not be published waits, so that its order holds; others go on. */
interface Blocked {
  readonly until: number;
  readonly failures: number;
}

interface OutboxRow extends Envelope {
  readonly sequence: string;
  readonly topic: string;
}

/**
 * Deletes what was acknowledged, and reads on, always from the lowest sequence: a sequence that was drawn early may be
 * committed late, so a mark of how far one had read would pass over rows, and let their key's next ones go first.
 * Parameters: sequences to delete, sequences to leave out, lanes to leave out, rows at most.
 */
const deleteAndRead = `
  WITH acknowledged AS (DELETE FROM outbox WHERE sequence = ANY($1::bigint[]))
  SELECT sequence, topic, event_id, type, version, account_id, key, traceparent, data,
         to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS occurred_at
  FROM outbox
  WHERE sequence <> ALL($2::bigint[]) AND (cardinality($3::text[]) = 0 OR topic || ' ' || key <> ALL($3::text[]))
  ORDER BY sequence LIMIT $4`;

const noteFailures = `
  UPDATE outbox SET attempts = attempts + 1, last_error = failed.error
  FROM unnest($1::uuid[], $2::text[]) AS failed (id, error) WHERE outbox.event_id = failed.id`;

export function createRelay({
  pool,
  transport,
  logger,
  tracing = noTracing,
  batchSize = relayBatchSize,
  pollEvery = 500,
}: RelayOptions): Relay {
  const blocked = new Map<string, Blocked>();
  let running = false;
  let awake = false;
  let loop: Promise<void> | undefined;
  let interrupt = () => {};

  async function run(): Promise<void> {
    while (running) {
      awake = false;
      const outcome = await drain(() => running).catch((error: unknown) => {
        logger.warn({ err: error }, 'The outbox could not be relayed; trying again');
      });
      if (outcome === 'busy') await sleepUntilWoken(busyPause);
      else if (!awake && running) await sleepUntilWoken(pollEvery);
    }
  }

  function sleepUntilWoken(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      interrupt = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Publishes until nothing is left that may be published. `busy`: another replica's relay is at it. */
  async function drain(goesOn: () => boolean): Promise<'drained' | 'busy'> {
    const drained = await withAdvisoryLock(pool, 'relay', async (client) => {
      await publishAll(client, goesOn);
      return 'drained' as const;
    });
    return drained ?? 'busy';
  }

  /** While a batch is on its way, the one before it is deleted and the one after it is read. */
  async function publishAll(client: PoolClient, goesOn: () => boolean): Promise<void> {
    let acknowledged: string[] = [];
    let rows = await take(client, [], []);
    while (rows.length > 0 && goesOn()) {
      const more = acknowledged.length > 0 || rows.length === batchSize;
      const [published, taken] = await Promise.allSettled([
        publish(rows.map(toMessage)),
        more
          ? take(
              client,
              acknowledged,
              rows.map(({ sequence }) => sequence),
            )
          : [],
      ]);
      if (taken.status === 'rejected') throw taken.reason; // The connection, and with it the lock, may be gone.
      if (published.status === 'rejected') throw published.reason;
      const { failed } = published.value;
      const done = new Set(published.value.acknowledged);
      const gone = done.size === rows.length ? rows : rows.filter(({ event_id }) => done.has(event_id));
      acknowledged = gone.map(({ sequence }) => sequence);
      if (blocked.size > 0) for (const { topic, key } of gone) blocked.delete(laneOf(topic, key));
      if (failed.length > 0) await block(client, failed);
      if (failed.length === 0 && taken.value.length > 0) rows = taken.value;
      else {
        // What was read ahead may hold events of a key that now waits.
        rows = await take(client, acknowledged, []);
        acknowledged = [];
      }
    }
    if (acknowledged.length > 0) await take(client, acknowledged, [], 0);
  }

  /** What an event causes is below its publication. */
  async function publish(messages: readonly Message[]): Promise<PublishResult> {
    const spans = beginSpans(tracing, messages, 'producer');
    try {
      const result = await transport.publish(spans.messages);
      const done = new Set(result.acknowledged);
      spans.end(({ envelope }) => (done.has(envelope.event_id) ? undefined : (result.failed[0]?.error ?? 'not tried')));
      return result;
    } catch (error) {
      spans.end(() => error);
      throw error;
    }
  }

  async function take(
    client: PoolClient,
    acknowledged: readonly string[],
    onTheirWay: readonly string[],
    limit = batchSize,
  ): Promise<OutboxRow[]> {
    const now = Date.now();
    // Its events may have been published by another replica, which is then all that is heard of them.
    for (const [lane, { until }] of blocked) if (until + forgottenAfter < now) blocked.delete(lane);
    const waiting = [...blocked].filter(([, { until }]) => until > now).map(([lane]) => lane);
    const values = [acknowledged, [...acknowledged, ...onTheirWay], waiting, limit];
    const { rows } = await client.query<OutboxRow>({ name: 'relay', text: deleteAndRead, values });
    return rows;
  }

  async function block(client: PoolClient, failed: readonly Failure[]): Promise<void> {
    for (const { message } of failed) {
      const lane = laneOf(message.topic, message.envelope.key);
      const failures = (blocked.get(lane)?.failures ?? 0) + 1;
      blocked.set(lane, { failures, until: Date.now() + Math.min(100 * 2 ** failures, longestPause) });
    }
    const [first] = failed;
    logger.warn(
      {
        event_id: first?.message.envelope.event_id,
        topic: first?.message.topic,
        keys: failed.length,
        err: first?.error,
      },
      'Events could not be published yet; this is the first of them',
    );
    await client.query(noteFailures, [
      failed.map(({ message }) => message.envelope.event_id),
      failed.map(({ error: { message } }) => message.slice(0, 1000)),
    ]);
  }

  return {
    start() {
      running = true;
      loop = run();
    },
    wake() {
      awake = true;
      interrupt();
    },
    async stop(deadline) {
      running = false;
      interrupt();
      await loop;
      try {
        await drain(() => Date.now() < deadline);
      } catch (error) {
        logger.warn({ err: error }, 'The outbox was not drained; the next start goes on with it');
      }
    },
  };
}

function toMessage(row: OutboxRow): Message {
  const { topic, event_id, type, version, account_id, key, occurred_at, traceparent, data } = row;
  return { topic, envelope: { event_id, type, version, account_id, key, occurred_at, traceparent, data } };
}
