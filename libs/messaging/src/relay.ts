import type { Envelope } from '@attribution/contracts';
import { withAdvisoryLock } from '@attribution/database';
import type { Pool, PoolClient } from 'pg';
import type { Logger } from 'pino';
import type { Message, Transport } from './transport.ts';

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
  /** Events a pass takes at most. */
  readonly batchSize?: number;
  /** Milliseconds between looks when nobody wakes it: for what another replica left, or a wake-up lost in a crash. */
  readonly pollEvery?: number;
}

const longestPause = 5_000;
/** Another's pass takes milliseconds; what we were woken for may have missed it. */
const busyPause = 25;

/** A key whose event could not be published waits, so that its order holds; others go on. */
interface Blocked {
  readonly until: number;
  readonly failures: number;
}

interface OutboxRow extends Omit<Envelope, 'occurred_at'> {
  readonly sequence: string;
  readonly topic: string;
  readonly occurred_at: Date;
}

export function createRelay({ pool, transport, logger, batchSize = 500, pollEvery = 500 }: RelayOptions): Relay {
  const blocked = new Map<string, Blocked>();
  let running = false;
  let awake = false;
  let loop: Promise<void> | undefined;
  let interrupt = () => {};

  const lane = (row: { topic: string; key: string }) => `${row.topic} ${row.key}`;

  async function run(): Promise<void> {
    while (running) {
      awake = false;
      const outcome = await pass().catch((error: unknown) => {
        logger.warn({ err: error }, 'The outbox could not be relayed; trying again');
        return 'idle' as const;
      });
      if (outcome === 'busy') await sleepUntilWoken(busyPause);
      else if (outcome === 'idle' && !awake && running) await sleepUntilWoken(pollEvery);
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

  /** Publishes one batch. `more`: there may be more; `busy`: another replica's relay is at it. */
  async function pass(): Promise<'more' | 'idle' | 'busy'> {
    return (await withAdvisoryLock(pool, 'relay', publishBatch)) ?? 'busy';
  }

  async function publishBatch(client: PoolClient): Promise<'more' | 'idle'> {
    const now = Date.now();
    const waiting = [...blocked].filter(([, { until }]) => until > now).map(([key]) => key);
    const { rows } = await client.query<OutboxRow>(
      `SELECT sequence, topic, event_id, type, version, account_id, key, occurred_at, traceparent, data
       FROM outbox WHERE NOT (topic || ' ' || key = ANY($1::text[])) ORDER BY sequence LIMIT $2`,
      [waiting, batchSize],
    );
    if (rows.length === 0) return 'idle';

    const { acknowledged, failed } = await transport.publish(rows.map(toMessage));
    if (acknowledged.length > 0) {
      await client.query('DELETE FROM outbox WHERE event_id = ANY($1::uuid[])', [acknowledged]);
    }
    const done = new Set(acknowledged);
    for (const row of rows) if (done.has(row.event_id)) blocked.delete(lane(row));
    for (const { message, error } of failed) await noteFailure(client, message, error);
    return rows.length === batchSize && failed.length === 0 ? 'more' : 'idle';
  }

  async function noteFailure(client: PoolClient, { topic, envelope }: Message, error: Error): Promise<void> {
    const name = lane({ topic, key: envelope.key });
    const failures = (blocked.get(name)?.failures ?? 0) + 1;
    blocked.set(name, { failures, until: Date.now() + Math.min(100 * 2 ** failures, longestPause) });
    await client.query('UPDATE outbox SET attempts = attempts + 1, last_error = $2 WHERE event_id = $1', [
      envelope.event_id,
      error.message.slice(0, 1000),
    ]);
    logger.warn({ event_id: envelope.event_id, topic, failures, err: error }, 'An event could not be published yet');
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
        while (Date.now() < deadline && (await pass()) === 'more');
      } catch (error) {
        logger.warn({ err: error }, 'The outbox was not drained; the next start goes on with it');
      }
    },
  };
}

function toMessage({ sequence: _, topic, occurred_at, ...envelope }: OutboxRow): Message {
  return { topic, envelope: { ...envelope, occurred_at: occurred_at.toISOString() } };
}
