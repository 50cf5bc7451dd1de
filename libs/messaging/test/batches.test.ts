import { event, id } from '@attribution/contracts';
import type { SqlTransaction } from '@attribution/database';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createInProcessTransport, type Message, newEvent, on, onBatch } from '../src/index.ts';
import {
  accountId,
  createNode,
  effectsOf,
  openTestDatabase,
  range,
  recording,
  type TestDb,
  things,
} from './support.ts';

const { topic, type, number } = things(3);
const message = (key: string, n: number): Message => number(key, n).message;

let database: Awaited<ReturnType<typeof openTestDatabase>>;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.drop());

const consumerOf = (options: Omit<Parameters<typeof createNode>[0], 'database' | 'transport'>) =>
  createNode({ database, transport: createInProcessTransport(), ...options }).consumer;

/** Writes the effects of many events by one statement, after `before` had its say. */
const recordingTogether = (before: (ns: readonly number[]) => void | Promise<void> = () => {}) =>
  onBatch(type, async (tx: SqlTransaction, events) => {
    await before(events.map(({ data }) => data.n));
    await tx.$executeRawUnsafe(
      `INSERT INTO effects (consumer, key, n) SELECT 'campaign', key, n FROM unnest($1::text[], $2::int[]) AS one (key, n)`,
      events.map(({ data }) => data.key),
      events.map(({ data }) => data.n),
    );
  });

const deadLetters = async () => {
  const { rows } = await database.pool.query<{ n: number; attempts: number }>(
    `SELECT (envelope->'data'->>'n')::int AS n, attempts FROM dead_letters ORDER BY id`,
  );
  return rows;
};
const marks = async () => (await database.pool.query('SELECT 1 FROM inbox')).rowCount;

const ways: [string, (before?: (n: number) => void | Promise<void>) => ReturnType<typeof recordingTogether>][] = [
  ['one by one', (before) => recording(type, 'campaign', before)],
  [
    'together',
    (before = () => {}) =>
      recordingTogether(async (ns) => {
        for (const n of ns) await before(n);
      }),
  ],
];

describe.each(ways)('a batch of events handled %s', (_name, handler) => {
  test('takes effect in one transaction, each key in order', async () => {
    const consumer = consumerOf({ handlers: [handler()] });
    const messages = range(300).map((n) => message(`key ${n % 3}`, n));
    expect(await consumer.subscription.handle(messages)).toEqual([]);
    for (const k of range(3)) {
      expect(await effectsOf(database, 'campaign', `key ${k}`)).toEqual(range(100).map((n) => n * 3 + k));
    }
    const { rows } = await database.pool.query<{ fewer: boolean }>(
      'SELECT count(DISTINCT xmin::text) <= 6 AS fewer FROM effects',
    );
    expect(rows).toEqual([{ fewer: true }]);
  });

  test('with one that always fails in the middle: that one is a dead letter, the others take effect once, in order', async () => {
    const fails = (n: number) => {
      if (n === 10) throw new Error('cannot be done');
    };
    const consumer = consumerOf({ handlers: [handler(fails)] });
    const messages = range(20).map((n) => message(n % 2 ? 'odd' : 'even', n));
    expect(await consumer.subscription.handle(messages)).toEqual([]);
    expect(await effectsOf(database, 'campaign', 'even')).toEqual([0, 2, 4, 6, 8, 12, 14, 16, 18]);
    expect(await effectsOf(database, 'campaign', 'odd')).toEqual([1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    expect(await deadLetters()).toEqual([{ n: 10, attempts: 4 }]);
    expect(await marks()).toBe(19);
  });

  test('with one whose values Prisma has in its error: a dead letter does not repeat them', async () => {
    const error = new Error(
      '\nInvalid `tx.user.create()` invocation:\n\n{ code: "482913" }\n\nArgument `id`: Invalid value.',
    );
    const consumer = consumerOf({
      handlers: [handler(() => Promise.reject(Object.assign(error, { name: 'PrismaClientValidationError' })))],
    });
    expect(await consumer.subscription.handle([message('a', 1)])).toEqual([]);
    const { rows } = await database.pool.query('SELECT error FROM dead_letters');
    expect(rows).toEqual([{ error: 'Argument `id`: Invalid value.' }]);
    const { rowCount } = await database.pool.query(`SELECT FROM outbox WHERE data::text LIKE '%482913%'`);
    expect(rowCount).toBe(0);
  });

  test('with one of another shape than its type says: that one is a dead letter at once, the others take effect', async () => {
    const consumer = consumerOf({ handlers: [handler()] });
    const [first, bad, last] = [message('a', 1), message('a', 2), message('a', 3)];
    const misshapen = { ...bad, envelope: { ...bad.envelope, data: { ...bad.envelope.data, n: 'two' } } };
    expect(await consumer.subscription.handle([first, misshapen, last])).toEqual([]);
    expect(await effectsOf(database, 'campaign', 'a')).toEqual([1, 3]);
    const { rows } = await database.pool.query('SELECT attempts FROM dead_letters');
    expect(rows).toEqual([{ attempts: 1 }]);
  });

  test('that is cut off in the middle leaves nothing behind, and is done when it comes again', async () => {
    let cuts = 1;
    const cutOff = async (n: number) => {
      if (n !== 5 || cuts-- <= 0) return;
      await database.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND state = 'idle in transaction'`,
      );
    };
    const consumer = consumerOf({ handlers: [handler(cutOff)] });
    const messages = range(10).map((n) => message('a', n));
    expect(await consumer.subscription.handle(messages)).toEqual([]);
    expect(await effectsOf(database, 'campaign', 'a')).toEqual(range(10));
    expect(await marks()).toBe(10);
    expect(cuts).toBeLessThan(1);
  });

  test('whose commit is not known to have succeeded takes effect once', async () => {
    let lost = 2;
    const losing = async (transaction: Promise<unknown>) => {
      const result = await transaction;
      if (lost-- > 0) throw new Error('the answer was lost');
      return result as never;
    };
    const consumerDatabase: Pick<TestDb, 'transaction' | 'sqlTransaction' | 'ping'> = {
      ping: () => database.ping(),
      transaction: (work) => losing(database.transaction(work)),
      sqlTransaction: (work) => losing(database.sqlTransaction(work)),
    };
    const consumer = consumerOf({ handlers: [handler()], consumerDatabase });
    expect(await consumer.subscription.handle(range(6).map((n) => message('a', n)))).toEqual([]);
    expect(await effectsOf(database, 'campaign', 'a')).toEqual(range(6));
    expect(await deadLetters()).toEqual([]);
  });

  test('that is half known has the effects that are new, in order; an event twice in it has one', async () => {
    const consumer = consumerOf({ handlers: [handler()] });
    const messages = range(10).map((n) => message('a', n));
    await consumer.subscription.handle([messages[0], messages[3], messages[4]].filter((one) => one !== undefined));
    expect(await consumer.subscription.handle([...messages, ...messages])).toEqual([]);
    expect(await effectsOf(database, 'campaign', 'a')).toEqual([0, 3, 4, 1, 2, 5, 6, 7, 8, 9]);
  });

  test('that two replicas have at once, in whatever order of keys, takes effect once', async () => {
    const slowly = () => new Promise<void>((resolve) => setTimeout(resolve, 2));
    const replicas = range(3).map(() => consumerOf({ handlers: [handler(slowly)] }));
    const keys = range(4).map((k) => range(15).map((n) => message(`key ${k}`, n)));
    const orders = [keys, keys.toReversed(), [...keys.slice(2), ...keys.slice(0, 2)]];
    const outcomes = await Promise.all(
      replicas.map(({ subscription }, index) => subscription.handle((orders[index] ?? []).flat())),
    );
    expect(outcomes).toEqual([[], [], []]);
    for (const k of range(4)) expect(await effectsOf(database, 'campaign', `key ${k}`)).toEqual(range(15));
    expect(await deadLetters()).toEqual([]);
  });
});

test('events of one kind are given together, and those of another kind keep their place between them', async () => {
  const other = event({
    type: 'thing.removed',
    topic,
    version: 1,
    key: (data) => data.key,
    data: z.object({ account_id: id('account'), key: z.string() }),
  });
  const given: string[] = [];
  const consumer = consumerOf({
    handlers: [
      onBatch(type, async (_tx: SqlTransaction, events) => {
        given.push(events.map(({ data }) => data.n).join());
      }),
      on(other, async () => {
        given.push('removed');
      }),
    ],
  });
  const removed = newEvent(other, { account_id: accountId, key: 'a' }, { accountId, occurredAt: new Date() }).message;
  await consumer.subscription.handle([message('a', 1), message('b', 2), removed, message('a', 3)]);
  expect(given).toEqual(['1,2', 'removed', '3']);
});

test('an event that fails again and again holds up no events that came by themselves', async () => {
  const fails = (n: number) => {
    if (n === 0) throw new Error('cannot be done');
  };
  const consumer = consumerOf({ handlers: [recording(type, 'campaign', fails)], backoff: [2_000] });
  let buried = 0;
  const inVain = range(4).map(async (k) => {
    await consumer.subscription.handle([message(`poisoned ${k}`, 0)]);
    buried++;
  });
  expect(await consumer.subscription.handle([message('free', 1)])).toEqual([]);
  expect(await effectsOf(database, 'campaign', 'free')).toEqual([1]);
  expect(buried).toBe(0);
  await Promise.all(inVain);
  expect(await deadLetters()).toHaveLength(4);
});

test('batches that wait for each other crosswise are both done in the end, without a dead letter', async () => {
  await database.pool.query(
    `CREATE TABLE totals (name text PRIMARY KEY, n int); INSERT INTO totals VALUES ('x', 0), ('y', 0)`,
  );
  const adding = on(type, async (tx: SqlTransaction, { data }) => {
    await tx.$executeRawUnsafe('UPDATE totals SET n = n + 1 WHERE name = $1', data.n === 0 ? 'x' : 'y');
    await new Promise((resolve) => setTimeout(resolve, 100));
  });
  const replicas = range(2).map(() => consumerOf({ handlers: [adding] }));
  const outcomes = await Promise.all([
    replicas[0]?.subscription.handle([message('a', 0), message('a', 1)]),
    replicas[1]?.subscription.handle([message('b', 1), message('b', 0)]),
  ]);
  expect(outcomes).toEqual([[], []]);
  const { rows } = await database.pool.query('SELECT name, n FROM totals ORDER BY name');
  expect(rows).toEqual([
    { name: 'x', n: 2 },
    { name: 'y', n: 2 },
  ]);
  expect(await deadLetters()).toEqual([]);
});

test('without a database the first event of every key waits, and the rest is not tried in vain', async () => {
  let tried = 0;
  const away = async () => {
    tried++;
    throw new Error('connection lost');
  };
  const consumer = consumerOf({
    handlers: [recording(type, 'campaign')],
    consumerDatabase: { transaction: away, sqlTransaction: away, ping: away },
  });
  const messages = range(200).map((n) => message(`key ${n % 100}`, n));
  const failures = await consumer.subscription.handle(messages);
  expect(
    failures.map(({ message: { envelope } }) => envelope.data.n).toSorted((a, b) => Number(a) - Number(b)),
  ).toEqual(range(100));
  expect(tried).toBeLessThan(40);
});
