import { eventually } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { createInProcessTransport, observeMessaging } from '../src/index.ts';
import { brokers, createNode, effectsOf, kafka, openTestDatabase, outboxRows, recording, things } from './support.ts';

const { topic, type, number } = things(3);

let database: Awaited<ReturnType<typeof openTestDatabase>>;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.drop());

test('while a listener has no database its events wait, none is given up, and other keys go on', async () => {
  const transport = createInProcessTransport();
  let away = true;
  const consumerDatabase = {
    transaction: (work: Parameters<typeof database.transaction>[0]) =>
      database.transaction(async (tx) => {
        const result = await work(tx);
        const [blocked] = await tx.$queryRawUnsafe<{ n: number }[]>(`SELECT n FROM effects WHERE key = 'blocked'`);
        if (away && blocked) throw new Error('connection lost');
        return result;
      }) as never,
    sqlTransaction: () => Promise.reject(new Error('not for handlers of one event')),
    ping: async () => {
      if (away) throw new Error('connection lost');
    },
  };
  const node = createNode({ database, transport, handlers: [recording(type, 'campaign')], consumerDatabase });
  await transport.start();
  node.relay.start();
  await node.send(number('blocked', 1), number('blocked', 2), number('free', 1));

  await eventually(async () => expect(await effectsOf(database, 'campaign', 'free')).toEqual([1]));
  await eventually(async () => {
    const rows = await outboxRows(database);
    expect(rows.map((row) => [row.key, row.data.n])).toEqual([
      ['blocked', 1],
      ['blocked', 2],
    ]);
    expect(rows[0]).toMatchObject({ last_error: 'connection lost' });
    expect(rows[0]?.attempts).toBeGreaterThan(0);
  });

  const registry = new Registry();
  const metrics = observeMessaging(registry, 'campaign', database.pool);
  await metrics.refresh();
  expect(await registry.metrics()).toContain('outbox_pending{service="campaign"} 2');
  expect(await registry.metrics()).toMatch(/outbox_attempts_max\{service="campaign"\} [1-9]/);

  away = false;
  await eventually(async () => expect(await effectsOf(database, 'campaign', 'blocked')).toEqual([1, 2]));
  expect((await database.pool.query('SELECT 1 FROM dead_letters')).rowCount).toBe(0);
  await node.relay.stop(Date.now() + 2_000);
});

test('a relay goes on by itself after its database connections were cut', async () => {
  const transport = createInProcessTransport();
  const node = createNode({ database, transport, handlers: [recording(type, 'campaign')] });
  await transport.start();
  node.relay.start();
  await node.send(number('a', 1));
  await eventually(async () => expect(await effectsOf(database, 'campaign', 'a')).toEqual([1]));
  await database.pool
    .query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )
    .catch(() => {});
  await eventually(() => node.send(number('a', 2)));
  await eventually(async () => expect(await effectsOf(database, 'campaign', 'a')).toEqual([1, 2]));
  await node.relay.stop(Date.now() + 2_000);
});

test('a broker that is away loses nothing: events wait in the outbox with the reason, and readiness says so', async () => {
  const transport = kafka('', ['127.0.0.1:1']);
  const node = createNode({ database, transport });
  transport.declare([topic]);
  await transport.start();
  node.relay.start();
  await node.send(number('a', 1));
  await eventually(async () => {
    const [row] = await outboxRows(database);
    expect(row?.attempts).toBeGreaterThan(0);
    expect(row?.last_error).toBeTruthy();
  }, 20_000);
  await expect(transport.check()).rejects.toThrow();
  await transport.close();
  await node.relay.stop(Date.now());
});

(brokers ? test : test.skip)(
  'replicas of a service share its events over Kafka: one joins, one leaves, none is lost or doubled',
  async () => {
    const prefix = `replicas-${Date.now()}.`;
    const first = kafka(prefix);
    const second = kafka(prefix);
    for (const transport of [first, second]) transport.declare([topic]);
    const sender = createNode({ database, transport: first, handlers: [recording(type, 'campaign')] });
    createNode({ database, transport: second, handlers: [recording(type, 'campaign')] });
    await first.start();
    sender.relay.start();
    const expected: number[] = [];
    const send = async (from: number, to: number) => {
      for (let n = from; n < to; n++) {
        expected.push(n);
        await sender.send(number(`key ${n % 7}`, n));
      }
    };
    await send(0, 50);
    await second.start();
    await eventually(() => second.check(), 20_000);
    await send(50, 100);
    await first.stopConsuming();
    await send(100, 150);
    await eventually(async () => {
      const { rows } = await database.pool.query<{ n: number }>('SELECT n FROM effects ORDER BY n');
      expect(rows.map((row) => row.n)).toEqual(expected);
    }, 25_000);
    await sender.relay.stop(Date.now() + 2_000);
    await Promise.all([first.close(), second.close()]);
  },
  60_000,
);
