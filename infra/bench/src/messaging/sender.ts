import { inTransaction, openDatabase, type PrismaLike, type SqlTransaction } from '@attribution/database';
import { createOutbox, createRelay, type Transport } from '@attribution/messaging';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Stream } from './events.ts';

/** How many transactions run at once. */
const writers = 16;

export interface Sent {
  /** When each event's transaction was committed, in milliseconds since the epoch, by event id. */
  readonly commits: ReadonlyMap<string, number>;
}

/** Creates a service that only writes events, with the same outbox and relay as every service. */
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
    /** Appends that many events, a hundred in each transaction. */
    async fill(events: number): Promise<void> {
      const commits = new Map<string, number>();
      let remaining = events;
      const writer = async () => {
        while (remaining > 0) {
          const count = Math.min(100, remaining);
          remaining -= count;
          await send(count, commits);
        }
      };
      await Promise.all(Array.from({ length: writers }, writer));
    },
    /** Commits transactions of `each` events as fast as possible, one after the other in every writer. */
    async sendAtFullSpeed(seconds: number, each: number): Promise<Sent> {
      const commits = new Map<string, number>();
      const until = Date.now() + seconds * 1_000;
      const writer = async () => {
        while (Date.now() < until) await send(each, commits);
      };
      await Promise.all(Array.from({ length: writers }, writer));
      return { commits };
    },
    /** Starts transactions of `each` events at a steady `rate` of events per second, whether or not earlier ones are done. */
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

/** Prisma's interface over plain pg, so that the cost of writing events distorts the figures as little as possible. */
function overPg(pool: pg.Pool): PrismaLike<SqlTransaction> {
  const overClient = (client: pg.Pool | pg.PoolClient): SqlTransaction => ({
    $executeRawUnsafe: async (sql, ...values) => (await client.query(sql, values)).rowCount ?? 0,
    $queryRawUnsafe: async <T>(sql: string, ...values: unknown[]) => (await client.query(sql, values)).rows as T,
  });
  return {
    ...overClient(pool),
    $transaction: (work) => inTransaction(pool, (client) => work(overClient(client))),
    $disconnect: () => pool.end(),
  };
}
