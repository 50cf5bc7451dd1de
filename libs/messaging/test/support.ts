import { randomBytes } from 'node:crypto';
import { event, id, type Topic, topic as topicOf } from '@attribution/contracts';
import { type Database, openDatabase, type PrismaLike, type SqlTransaction } from '@attribution/database';
import { newId } from '@attribution/ids';
import { createKafkaTransport, type KafkaOptions } from '@attribution/kafka';
import { captureLogs, createTestDatabase, eventually, testServers } from '@attribution/testing';
import { afterEach, expect, test } from '@jest/globals';
import { Kafka, type KafkaConfig, logLevel } from 'kafkajs';
import pg from 'pg';
import { z } from 'zod';
import {
  type Completion,
  createConsumer,
  createInProcessTransport,
  createOutbox,
  createRelay,
  type EventHandler,
  newEvent,
  type Outbox,
  on,
  type Relay,
  type Transport,
} from '../src/index.ts';

/** The event that the suite sends: number `n` of its key. */
export const counted = (topic: Topic) =>
  event({
    type: 'thing.counted',
    topic,
    version: 1,
    key: (data) => data.key,
    data: z.object({ account_id: id('account'), key: z.string(), n: z.int() }),
  });
export type Counted = ReturnType<typeof counted>;

/** A topic of `partitions`, its events, and number `n` of a key on it. */
export function things(partitions: number) {
  const topic = topicOf({ name: 'things', owner: 'campaign', partitions });
  const type = counted(topic);
  const number = (key: string, n: number) =>
    newEvent(type, { account_id: accountId, key, n }, { accountId, occurredAt: new Date() });
  return { topic, type, number };
}

export const brokers = testServers.kafkaBrokers();

/** The transports that the one suite runs on. */
export const transports: [string, () => Transport][] = [
  ['in-process', () => createInProcessTransport()],
  ...(brokers ? [['kafka', () => kafka(newPrefix())] as [string, () => Transport]] : []),
];

/** What a test opens is ended after it, the last first. */
export function endAfterEach(): (() => Promise<unknown>)[] {
  const ending: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ending.splice(0).reverse()) await end();
  });
  return ending;
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export const withKafka = brokers ? test : test.skip;

export const newPrefix = () => `${randomBytes(4).toString('hex')}.`;

export const kafka = (prefix: string, at = brokers ?? [], more: Partial<KafkaOptions> = {}) =>
  createKafkaTransport({ brokers: at, clientId: 'test', prefix, logger: captureLogs().logger, ...more });

/** A client of the test's own, besides what is tested. */
export const plainKafka = (at = brokers ?? [], more: Partial<KafkaConfig> = {}) =>
  new Kafka({ brokers: [...at], clientId: 'test', logLevel: logLevel.NOTHING, ...more });

/** A transport that counts how often it hands over each event. */
export function counting(transport: Transport) {
  const deliveries = new Map<string, number>();
  return {
    deliveries,
    /** Of all events together. */
    total: () => [...deliveries.values()].reduce((sum, count) => sum + count, 0),
    transport: {
      ...transport,
      subscribe: (subscription) =>
        transport.subscribe({
          ...subscription,
          handle(messages) {
            for (const { envelope } of messages)
              deliveries.set(envelope.event_id, (deliveries.get(envelope.event_id) ?? 0) + 1);
            return subscription.handle(messages);
          },
        }),
    } satisfies Transport,
  };
}

export type TestDb = Database<PrismaLike<SqlTransaction>, SqlTransaction>;

/** A database with the messaging tables and a table of effects. Its client is Prisma's interface over plain pg. */
export async function openTestDatabase(): Promise<TestDb & { drop(): Promise<void> }> {
  const { url, drop } = await createTestDatabase('campaign');
  const clientPool = new pg.Pool({ connectionString: url, max: 10 });
  clientPool.on('error', () => {}); // The database is dropped below idle connections.
  const database = openDatabase<PrismaLike<SqlTransaction>, SqlTransaction>({ url, poolSize: 30 }, () =>
    overPg(clientPool),
  );
  await database.pool.query('CREATE TABLE effects (sequence bigserial, consumer text, key text, n int)');
  return {
    ...database,
    async drop() {
      await database.close();
      await drop();
    },
  };
}

function overPg(pool: pg.Pool): PrismaLike<SqlTransaction> {
  const speak = (client: pg.Pool | pg.PoolClient): SqlTransaction => ({
    $executeRawUnsafe: async (sql, ...values) => (await client.query(sql, values)).rowCount ?? 0,
    $queryRawUnsafe: async <T>(sql: string, ...values: unknown[]) => (await client.query(sql, values)).rows as T,
  });
  return {
    ...speak(pool),
    async $transaction(work) {
      const client = await pool.connect();
      let broken: Error | undefined;
      const note = (error: Error) => {
        broken = error; // Its connection is cut by a test: the next one is another.
      };
      client.on('error', note);
      try {
        await client.query('BEGIN');
        const result = await work(speak(client));
        await client.query('COMMIT');
        return result;
      } catch (error) {
        await client.query('ROLLBACK').catch(() => {});
        throw error;
      } finally {
        client.release(broken);
        if (!broken) client.off('error', note);
      }
    },
    $disconnect: () => pool.end(),
  };
}

export interface Node {
  readonly outbox: Outbox;
  readonly relay: Relay;
  readonly consumer: ReturnType<typeof createConsumer>;
  /** Appends events in one transaction. */
  send(...events: Parameters<Outbox['append']>[1][]): Promise<void>;
}

/** One service: its outbox, relay and consumer on a database. */
export function createNode(options: {
  database: TestDb;
  transport: Transport;
  handlers?: EventHandler<SqlTransaction>[];
  service?: 'campaign' | 'billing';
  consumerDatabase?: Pick<TestDb, 'transaction' | 'sqlTransaction' | 'ping'>;
  batchSize?: number;
  backoff?: number[];
  completions?: readonly Completion[];
}): Node {
  const { database, transport, service = 'campaign', handlers = [], batchSize, backoff = [5, 5, 5] } = options;
  const { logger } = captureLogs();
  const relay = createRelay({
    pool: database.pool,
    transport,
    logger,
    pollEvery: 100,
    ...(batchSize && { batchSize }),
    completions: options.completions ?? [],
  });
  const outbox = createOutbox(() => relay.wake());
  const consumer = createConsumer({
    service,
    database: options.consumerDatabase ?? database,
    outbox,
    handlers,
    logger,
    backoff,
  });
  if (handlers.length > 0) transport.subscribe(consumer.subscription);
  return {
    outbox,
    relay,
    consumer,
    send: (...events) => database.transaction((tx) => outbox.append(tx, ...events)),
  };
}

/** A handler that writes the effect, after `before` had its say. */
export const recording = (type: Counted, consumer: string, before: (n: number) => void | Promise<void> = () => {}) =>
  on(type, async (tx: SqlTransaction, { data }) => {
    await before(data.n);
    await tx.$executeRawUnsafe(
      'INSERT INTO effects (consumer, key, n) VALUES ($1, $2, $3)',
      consumer,
      data.key,
      data.n,
    );
  });

/** The effects of a consumer on a key, in the order in which they were made. */
export async function effectsOf(database: TestDb, consumer: string, key: string): Promise<number[]> {
  const { rows } = await database.pool.query<{ n: number }>(
    'SELECT n FROM effects WHERE consumer = $1 AND key = $2 ORDER BY sequence',
    [consumer, key],
  );
  return rows.map((row) => row.n);
}

export async function outboxRows(database: TestDb) {
  const { rows } = await database.pool.query<{
    key: string;
    attempts: number;
    last_error: string | null;
    data: { n: number };
  }>('SELECT key, attempts, last_error, data FROM outbox ORDER BY sequence');
  return rows;
}

export const accountId = newId('account');
/** The keys' effects, and that they are all there, once and in order. */
export async function expectOnceInOrder(database: TestDb, sent: ReadonlyMap<string, number>, within = 60_000) {
  await eventually(async () => {
    const { rows } = await database.pool.query<{ n: number }>('SELECT count(*)::int AS n FROM effects');
    expect(rows[0]?.n).toBe([...sent.values()].reduce((sum, count) => sum + count, 0));
  }, within);
  for (const [key, count] of sent)
    expect([key, await effectsOf(database, 'campaign', key)]).toEqual([key, range(count)]);
}

export const range = (count: number) => Array.from({ length: count }, (_, n) => n);
