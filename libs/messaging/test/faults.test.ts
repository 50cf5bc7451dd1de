import { eventually } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { createInProcessTransport, observeMessaging } from '../src/index.ts';
import { createNode, effectsOf, kafka, openTestDatabase, outboxRows, recording, things } from './support.ts';

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

/** The table of effects cannot grow, as on a full disk, though dead letters could still be written. */
async function fillDisk(): Promise<() => Promise<unknown>> {
  await database.pool.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
    CREATE TRIGGER full_disk BEFORE INSERT ON effects FOR EACH ROW EXECUTE FUNCTION refuse()`);
  return () => database.pool.query('DROP TRIGGER full_disk ON effects');
}

test('while a listener’s disk is full its events wait, however often they are tried, and none is given up', async () => {
  const makeRoom = await fillDisk();
  const transport = createInProcessTransport();
  let tried = 0;
  const handlers = [recording(type, 'campaign', () => void tried++)];
  const node = createNode({ database, transport, handlers, backoff: [1, 1, 1] });
  await transport.start();
  const messages = [1, 2, 3].map((n) => number('a', n).message);
  for (let come = 0; come < 6; come++)
    expect((await transport.publish(messages)).failed).toMatchObject([{ message: { envelope: { data: { n: 1 } } } }]);
  expect(tried).toBeGreaterThan(5);
  expect((await database.pool.query('SELECT 1 FROM dead_letters')).rowCount).toBe(0);

  await makeRoom();
  expect((await transport.publish(messages)).failed).toEqual([]);
  expect(await effectsOf(database, 'campaign', 'a')).toEqual([1, 2, 3]);
  await node.relay.stop(Date.now());
});

test('while a lock is held for longer than the statement timeout, events wait in their order, and none becomes a dead letter', async () => {
  const transport = createInProcessTransport();
  const hurried: typeof database = {
    ...database,
    transaction: (work) =>
      database.transaction(async (tx) => {
        await tx.$executeRawUnsafe(`SET LOCAL statement_timeout = '100ms'`);
        return work(tx);
      }),
  };
  const handlers = [recording(type, 'campaign')];
  const node = createNode({ database, consumerDatabase: hurried, transport, handlers, backoff: [1, 1, 1] });
  await transport.start();
  const holder = await database.pool.connect();
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE effects IN ACCESS EXCLUSIVE MODE');
  const messages = [1, 2, 3].map((n) => number('a', n).message);
  for (let come = 0; come < 6; come++)
    expect((await transport.publish(messages)).failed).toMatchObject([{ message: { envelope: { data: { n: 1 } } } }]);
  expect((await database.pool.query('SELECT 1 FROM dead_letters')).rowCount).toBe(0);

  await holder.query('COMMIT');
  holder.release();
  expect((await transport.publish(messages)).failed).toEqual([]);
  expect(await effectsOf(database, 'campaign', 'a')).toEqual([1, 2, 3]);
  await node.relay.stop(Date.now());
});

test('a dead letter that was marked for replay stays marked if the disk was full', async () => {
  const transport = createInProcessTransport();
  let broken = true;
  const fails = () => {
    if (broken) throw new Error('a fault of ours');
  };
  const node = createNode({ database, transport, handlers: [recording(type, 'campaign', fails)], backoff: [] });
  await transport.start();
  await transport.publish([number('a', 1).message]);
  expect((await database.pool.query('SELECT 1 FROM dead_letters')).rowCount).toBe(1);
  await database.pool.query('UPDATE dead_letters SET replay_requested_at = now()');
  broken = false;
  const makeRoom = await fillDisk();
  await expect(node.consumer.replay()).rejects.toThrow('could not extend file');
  await makeRoom();
  expect(await node.consumer.replay()).toBe(1);
  expect(await effectsOf(database, 'campaign', 'a')).toEqual([1]);
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
  });
  await expect(transport.check()).rejects.toThrow();
  await transport.close();
  await node.relay.stop(Date.now());
});
