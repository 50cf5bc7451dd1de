import { newUuid } from '@attribution/ids';
import { eventually } from '@attribution/testing';
import { afterEach, describe, expect, test } from '@jest/globals';
import { deadLetterTopic, type Message, newEvent, type Transport } from '../src/index.ts';
import {
  accountId,
  type Counted,
  createNode,
  effectsOf,
  type Node,
  openTestDatabase,
  outboxRows,
  range,
  recording,
  things,
  transports,
} from './support.ts';

type Db = Awaited<ReturnType<typeof openTestDatabase>>;

/** What is running in a test, ended after it. */
const running: { database: Db; transport: Transport; nodes: Node[] }[] = [];

afterEach(async () => {
  for (const { database, transport, nodes } of running.splice(0)) {
    await transport.stopConsuming();
    for (const node of nodes) await node.relay.stop(Date.now() + 2_000);
    await transport.close();
    await database.drop();
  }
});

const context = () => ({ accountId, occurredAt: new Date(), traceparent: null });
const number = (type: Counted, key: string, n: number) => newEvent(type, { account_id: accountId, key, n }, context());

describe.each(transports)('over the %s transport', (_name, newTransport) => {
  /** Two services that both listen, and the events of one topic. */
  async function start(
    before: (n: number) => void | Promise<void> = () => {},
    wrap = (transport: Transport) => transport,
  ) {
    const { topic, type } = things(3);
    const database = await openTestDatabase();
    const transport = wrap(newTransport());
    transport.declare([topic, deadLetterTopic('campaign'), deadLetterTopic('billing')]);
    const sender = createNode({ database, transport, handlers: [recording(type, 'campaign', before)] });
    const other = createNode({ database, transport, service: 'billing', handlers: [recording(type, 'billing')] });
    running.push({ database, transport, nodes: [sender, other] });
    await transport.start();
    sender.relay.start();
    return { type, topic, database, transport, sender, other };
  }

  test('an event that is committed has its effect once in every service that listens, and leaves the outbox', async () => {
    const { type, database, sender } = await start();
    await sender.send(number(type, 'a', 1));
    await eventually(async () => expect(await effectsOf(database, 'campaign', 'a')).toEqual([1]));
    await eventually(async () => expect(await effectsOf(database, 'billing', 'a')).toEqual([1]));
    await eventually(async () => expect(await outboxRows(database)).toEqual([]));
  });

  test('an event whose transaction is rolled back is never published', async () => {
    const { type, database, sender } = await start();
    const failed = database.transaction(async (tx) => {
      await sender.outbox.append(tx, number(type, 'a', 1));
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    await sender.send(number(type, 'a', 2));
    await eventually(async () => expect(await effectsOf(database, 'campaign', 'a')).toEqual([2]));
  });

  test('events of one key take effect in the order of their commits, also if they were written concurrently', async () => {
    const { type, database, sender } = await start();
    await database.pool.query('CREATE TABLE counter (n int); INSERT INTO counter VALUES (0)');
    // The counter is drawn after the append: without the key's lock, draws and sequences would not agree.
    const write = () =>
      database.transaction(async (tx) => {
        const event = number(type, 'hot', 0);
        await sender.outbox.append(tx, event);
        const [row] = await tx.$queryRawUnsafe<{ n: number }[]>('UPDATE counter SET n = n + 1 RETURNING n');
        await tx.$executeRawUnsafe(
          `UPDATE outbox SET data = jsonb_set(data, '{n}', to_jsonb($1::int)) WHERE event_id = $2::uuid`,
          row?.n,
          event.message.envelope.event_id,
        );
      });
    await Promise.all(range(40).map(write));
    await eventually(async () => expect(await effectsOf(database, 'campaign', 'hot')).toHaveLength(40));
    expect(await effectsOf(database, 'campaign', 'hot')).toEqual(range(40).map((n) => n + 1));
  });

  test('hundreds of events of many keys all take effect once, each key in order', async () => {
    const { type, database, sender } = await start();
    const keys = range(10).map((n) => `key ${n}`);
    for (const n of range(60)) await sender.send(...keys.map((key) => number(type, key, n)));
    for (const key of keys) {
      await eventually(async () => expect(await effectsOf(database, 'campaign', key)).toEqual(range(60)));
    }
  });

  test('an event that is brought again changes nothing, even twenty times at once', async () => {
    const { type, topic, database, transport, sender } = await start();
    const envelope = { ...number(type, 'a', 7).message.envelope, event_id: newUuid() };
    const message: Message = { topic: topic.name, envelope };
    await transport.start;
    await eventually(() => transport.check());
    await Promise.all(range(20).map(() => transport.publish([message])));
    await sender.send(number(type, 'a', 8));
    await eventually(async () => expect(await effectsOf(database, 'campaign', 'a')).toEqual([7, 8]));
  });

  test('an effect that fails is tried again, and takes place once', async () => {
    let failures = 2;
    const { type, database, sender } = await start(() => {
      if (failures-- > 0) throw new Error('not yet');
    });
    await sender.send(number(type, 'a', 1), number(type, 'a', 2));
    await eventually(async () => expect(await effectsOf(database, 'campaign', 'a')).toEqual([1, 2]));
    const dead = await database.pool.query('SELECT 1 FROM dead_letters');
    expect(dead.rowCount).toBe(0);
  });

  test('an effect that keeps failing becomes a dead letter, its key goes on, and a replay makes it good', async () => {
    let broken = true;
    const { type, database, sender } = await start((n) => {
      if (broken && n === 1) throw new Error('cannot be done');
    });
    await sender.send(number(type, 'a', 1), number(type, 'a', 2));
    await eventually(async () => expect(await effectsOf(database, 'campaign', 'a')).toEqual([2]));
    const { rows } = await database.pool.query('SELECT consumer, topic, attempts, error FROM dead_letters');
    expect(rows).toEqual([{ consumer: 'campaign', topic: 'things', attempts: 4, error: 'cannot be done' }]);

    await database.pool.query('UPDATE dead_letters SET replay_requested_at = now()');
    expect(await sender.consumer.replay()).toBe(0);
    const still = await database.pool.query('SELECT attempts, replay_requested_at FROM dead_letters');
    expect(still.rows).toEqual([{ attempts: 5, replay_requested_at: null }]);

    broken = false;
    await database.pool.query('UPDATE dead_letters SET replay_requested_at = now()');
    const replayed = await Promise.all([sender.consumer.replay(), sender.consumer.replay()]);
    expect(replayed.reduce((sum, count) => sum + count)).toBe(1);
    expect(await effectsOf(database, 'campaign', 'a')).toEqual([2, 1]);
    expect((await database.pool.query('SELECT 1 FROM dead_letters')).rowCount).toBe(0);
  });

  test('a dead letter is announced on the dead-letter topic', async () => {
    const announced: Message[] = [];
    const { type, sender } = await start(
      () => {
        throw new Error('cannot be done');
      },
      (transport) => ({
        ...transport,
        publish: (messages) => {
          announced.push(...messages.filter((message) => message.topic === 'campaign.dead-letters'));
          return transport.publish(messages);
        },
      }),
    );
    await sender.send(number(type, 'a', 1));
    await eventually(() => expect(announced).toHaveLength(1));
    expect(announced[0]?.envelope).toMatchObject({
      type: 'event.dead_lettered',
      account_id: accountId,
      data: { consumer: 'campaign', topic: 'things', error: 'cannot be done', envelope: { data: { n: 1 } } },
    });
  });

  test('an event of another shape than its type says is a dead letter at the first attempt', async () => {
    const { type, topic, database, transport } = await start();
    await eventually(() => transport.check());
    const { envelope } = number(type, 'a', 1).message;
    await transport.publish([{ topic: topic.name, envelope: { ...envelope, data: { n: 'one' } } }]);
    await eventually(async () => {
      const { rows } = await database.pool.query(`SELECT attempts FROM dead_letters WHERE consumer = 'campaign'`);
      expect(rows).toEqual([{ attempts: 1 }]);
    });
  });

  test('two relays on one outbox publish every event once and keep the order', async () => {
    const published: number[] = [];
    const { type, database, transport, sender } = await start(undefined, (inner) => ({
      ...inner,
      publish: (messages) => {
        published.push(...messages.map((message) => (message.envelope.data as { n: number }).n));
        return inner.publish(messages);
      },
    }));
    await eventually(() => transport.check());
    const second = createNode({ database, transport });
    second.relay.start();
    running.at(-1)?.nodes.push(second);
    for (const n of range(50)) await (n % 2 ? second : sender).send(number(type, 'a', n));
    await eventually(async () => expect(await outboxRows(database)).toEqual([]));
    expect(published).toEqual(range(50));
  });

  test('a publish that is not known to have succeeded is repeated, and takes effect once', async () => {
    let crashes = 2;
    const { type, database, sender } = await start(undefined, (inner) => ({
      ...inner,
      publish: async (messages) => {
        const result = await inner.publish(messages);
        if (result.acknowledged.length > 0 && crashes-- > 0) throw new Error('the answer was lost');
        return result;
      },
    }));
    await sender.send(number(type, 'a', 1), number(type, 'a', 2));
    await eventually(async () => expect(await outboxRows(database)).toEqual([]));
    await eventually(async () => expect(await effectsOf(database, 'campaign', 'a')).toEqual([1, 2]));
    expect(crashes).toBeLessThan(0);
  });

  test('stopping the relay publishes what the outbox holds', async () => {
    const { type, database, transport, sender } = await start();
    await eventually(() => transport.check());
    await sender.send(...range(20).map((n) => number(type, 'a', n)));
    await sender.relay.stop(Date.now() + 5_000);
    expect(await outboxRows(database)).toEqual([]);
    await eventually(async () => expect(await effectsOf(database, 'campaign', 'a')).toEqual(range(20)));
  });
});
