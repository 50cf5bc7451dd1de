import { inTransaction, openDatabase, type PrismaLike, type SqlTransaction } from '@attribution/database';
import { createOutbox, createRelay, type Transport } from '@attribution/messaging';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Stream } from './events.ts';

/** Transactions at once. */
const writers = 16;

export interface Sent {
  /** Milliseconds since the epoch at which each event's transaction was about to commit, by event id. */
  readonly commits: ReadonlyMap<string, number>;
}

/** A service that writes events: outbox and relay as every service has them, its transactions over pg. */
export function createSender(url: string, stream: Stream, transport: Transport, logger: Logger) {
  const client = new pg.Pool({ connectionString: url, max: writers });
  const database = openDatabase<PrismaLike<SqlTransaction>, SqlTransaction>({ url }, () => overPg(client));
  const relay = createRelay({ pool: database.pool, transport, logger });
  const outbox = createOutbox(() => relay.wake());

  /** One transaction that appends `count` events. */
  async function send(count: number, commits: Map<string, number>): Promise<void> {
    const events = Array.from({ length: count }, () => stream.next());
    await database.transaction((tx) => outbox.append(tx, ...events));
    const now = Date.now();
    for (const { message } of events) commits.set(message.envelope.event_id, now);
  }

  return {
    relay,
    pool: database.pool,
    /** Appends that many events, a hundred a transaction. */
    async fill(events: number): Promise<void> {
      const commits = new Map<string, number>();
      let left = events;
      const writer = async () => {
        while (left > 0) {
          const count = Math.min(100, left);
          left -= count;
          await send(count, commits);
        }
      };
      await Promise.all(Array.from({ length: writers }, writer));
    },
    /** Transactions of `each` events, one after the other in every writer. */
    async sendAtOnce(seconds: number, each: number): Promise<Sent> {
      const commits = new Map<string, number>();
      const until = Date.now() + seconds * 1_000;
      const writer = async () => {
        while (Date.now() < until) await send(each, commits);
      };
      await Promise.all(Array.from({ length: writers }, writer));
      return { commits };
    },
    /** Transactions of `each` events at an even pace, `rate` events a second, whether or not earlier ones are done. */
    async sendAtRate(seconds: number, each: number, rate: number): Promise<Sent> {
      const commits = new Map<string, number>();
      const sending: Promise<void>[] = [];
      const start = performance.now();
      for (let passed = 0; passed < seconds; passed = (performance.now() - start) / 1_000) {
        while (sending.length * each < passed * rate) sending.push(send(each, commits));
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      await Promise.all(sending);
      return { commits };
    },
  };
}

/** Prisma's interface over plain pg: the writers' own cost is not what is measured. */
function overPg(pool: pg.Pool): PrismaLike<SqlTransaction> {
  const speak = (client: pg.Pool | pg.PoolClient): SqlTransaction => ({
    $executeRawUnsafe: async (sql, ...values) => (await client.query(sql, values)).rowCount ?? 0,
    $queryRawUnsafe: async <T>(sql: string, ...values: unknown[]) => (await client.query(sql, values)).rows as T,
  });
  return {
    ...speak(pool),
    $transaction: (work) => inTransaction(pool, (client) => work(speak(client))),
    $disconnect: () => pool.end(),
  };
}
