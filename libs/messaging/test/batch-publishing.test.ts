/** What handlers publish while events take effect together. */
import type { SqlTransaction } from '@attribution/database';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createInProcessTransport, type HandlerOptions, type Message, on } from '../src/index.ts';
import { createNode, effectsOf, openTestDatabase, outboxRows, range, type TestDb, things } from './support.ts';

const { type, number } = things(3);
const message = (key: string, n: number): Message => number(key, n).message;

let database: Awaited<ReturnType<typeof openTestDatabase>>;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.drop());

/** May act before each statement of a consumer's transactions. */
type Observer = (sql: string) => void | Promise<void>;

function observed(observe: Observer): Pick<TestDb, 'transaction' | 'sqlTransaction' | 'ping'> {
  const wrap = <Tx extends SqlTransaction>(tx: Tx): Tx => ({
    ...tx,
    async $executeRawUnsafe(sql: string, ...values: unknown[]) {
      await observe(sql);
      return tx.$executeRawUnsafe(sql, ...values);
    },
  });
  return {
    ping: () => database.ping(),
    transaction: (work) => database.transaction((tx) => work(wrap(tx))),
    sqlTransaction: (work) => database.sqlTransaction((tx) => work(wrap(tx))),
  };
}

interface PublisherOptions extends HandlerOptions {
  /** The key of the event that is published for number `n` of a key. */
  readonly keyOf?: (key: string, n: number) => string;
  readonly observe?: Observer;
  readonly before?: (n: number) => Promise<void>;
}

/** A consumer that records each event and publishes another one, of number `n + 1000`. */
function startPublisher(options: PublisherOptions = {}) {
  const { keyOf = (key) => key, observe = () => {}, before = async () => {}, ...handlerOptions } = options;
  const handler = on(
    type,
    async (tx: SqlTransaction, { data: { key, n } }) => {
      await before(n);
      await tx.$executeRawUnsafe(`INSERT INTO effects (consumer, key, n) VALUES ('campaign', $1, $2)`, key, n);
      await node.outbox.append(tx, number(keyOf(key, n), n + 1000));
    },
    handlerOptions,
  );
  const transport = createInProcessTransport();
  const node = createNode({ database, transport, handlers: [handler], consumerDatabase: observed(observe) });
  return node.consumer.subscription;
}

const published = async (key: string) =>
  (await outboxRows(database)).filter((row) => row.key === key).map(({ data }) => data.n);
const transactionsOf = async (table: string) =>
  (await database.pool.query(`SELECT DISTINCT xmin::text FROM ${table}`)).rowCount;
const isAppend = (sql: string) => sql.includes('INSERT INTO outbox');

test('the events of one batch are appended by one statement, in the transaction of their effects, each key in order', async () => {
  let appends = 0;
  const { handle } = startPublisher({
    observe(sql) {
      if (isAppend(sql)) appends++;
    },
  });
  expect(await handle(range(40).map((n) => message(`key ${n % 2}`, n)))).toEqual([]);
  expect(appends).toBe(1);
  expect(await published('key 0')).toEqual(range(20).map((n) => 1000 + 2 * n));
  expect(await published('key 1')).toEqual(range(20).map((n) => 1001 + 2 * n));
  const { rowCount } = await database.pool.query(
    'SELECT xmin::text FROM outbox UNION SELECT xmin::text FROM effects UNION SELECT xmin::text FROM inbox',
  );
  expect(rowCount).toBe(1);
});

test('an event whose own event cannot be stored is a dead letter alone: the others take effect and are published once', async () => {
  const { handle } = startPublisher({ keyOf: (key, n) => (n === 7 ? 'not \0 storable' : key) });
  expect(await handle(range(10).map((n) => message(n % 2 ? 'odd' : 'even', n)))).toEqual([]);
  expect(await effectsOf(database, 'campaign', 'odd')).toEqual([1, 3, 5, 9]);
  expect(await effectsOf(database, 'campaign', 'even')).toEqual([0, 2, 4, 6, 8]);
  expect(await published('odd')).toEqual([1001, 1003, 1005, 1009]);
  expect(await published('even')).toEqual([1000, 1002, 1004, 1006, 1008]);
  const { rows } = await database.pool.query(`SELECT envelope->'data'->>'n' AS n FROM dead_letters`);
  expect(rows).toEqual([{ n: '7' }]);
});

test('a connection that breaks between the effects and their events leaves neither behind; repeated, both are there once', async () => {
  let cuts = 0;
  const { handle } = startPublisher({
    async observe(sql) {
      if (!isAppend(sql) || cuts++ > 0) return;
      await database.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND state = 'idle in transaction'`,
      );
      expect([await effectsOf(database, 'campaign', 'a'), await published('a')]).toEqual([[], []]);
    },
  });
  expect(await handle(range(5).map((n) => message('a', n)))).toEqual([]);
  expect(cuts).toBeGreaterThan(1);
  expect(await effectsOf(database, 'campaign', 'a')).toEqual(range(5));
  expect(await published('a')).toEqual(range(5).map((n) => n + 1000));
});

test('a batch that is delivered again publishes nothing again', async () => {
  const { handle } = startPublisher();
  const messages = range(5).map((n) => message('a', n));
  await handle(messages);
  expect(await handle([...messages, message('a', 5)])).toEqual([]);
  expect(await published('a')).toEqual(range(6).map((n) => n + 1000));
});

test('batches that publish to the same keys in opposite orders do not deadlock', async () => {
  const release = Promise.withResolvers<void>();
  let waiting = 0;
  let appends = 0;
  const replica = () =>
    startPublisher({
      keyOf: (_key, n) => (n % 2 ? 'x' : 'y'),
      observe(sql) {
        if (isAppend(sql)) appends++;
      },
      // Both have handled their first event when either goes on to its second.
      async before(n) {
        if (n !== 11 && n !== 20) return;
        if (++waiting === 2) release.resolve();
        await release.promise;
      },
    });
  const outcomes = await Promise.all([
    replica().handle([message('a', 10), message('a', 11)]),
    replica().handle([message('b', 21), message('b', 20)]),
  ]);
  expect(outcomes).toEqual([[], []]);
  expect(appends).toBe(2); // A transaction that Postgres ended for a deadlock would have been repeated.
});

test('a handler that is declared one by one shares its transactions with no other event', async () => {
  const { handle } = startPublisher({ oneByOne: true });
  expect(await handle(range(6).map((n) => message(`key ${n % 2}`, n)))).toEqual([]);
  expect(await transactionsOf('effects')).toBe(6);
  expect(await transactionsOf('inbox')).toBe(6);
});
