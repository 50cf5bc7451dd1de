import { eventually } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createInProcessTransport, type Message, type Transport } from '../src/index.ts';
import { createNode, openTestDatabase, outboxRows, pause, range, things } from './support.ts';

const { number } = things(3);

let database: Awaited<ReturnType<typeof openTestDatabase>>;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.drop());

/** Keeps what is published; `before` sees each batch first, and may throw for a key. */
function recordingTransport(before: (messages: readonly Message[]) => Promise<string | undefined>) {
  const published: [string, number][] = [];
  const transport: Transport = {
    ...createInProcessTransport(),
    async publish(messages) {
      const failing = await before(messages);
      const sent = messages.filter(({ envelope }) => envelope.key !== failing);
      published.push(...sent.map(({ envelope }): [string, number] => [envelope.key, Number(envelope.data.n)]));
      const [failed] = messages.filter(({ envelope }) => envelope.key === failing);
      return {
        acknowledged: sent.map(({ envelope }) => envelope.event_id),
        failed: failed ? [{ message: failed, error: new Error('not now') }] : [],
      };
    },
  };
  return { transport, published };
}

test('many batches are published once each, in order, while the next one is read', async () => {
  const { transport, published } = recordingTransport(async () => void (await pause(3)));
  const node = createNode({ database, transport, batchSize: 10 });
  for (const part of range(5)) await node.send(...range(50).map((n) => number(`key ${n % 7}`, part * 50 + n)));
  node.relay.start();
  await eventually(async () => expect(await outboxRows(database)).toEqual([]));
  expect(published.map(([, n]) => n)).toEqual(range(250));
  await node.relay.stop(Date.now() + 2_000);
});

test('an event that drew its place early and is committed late is published, and before the next of its key', async () => {
  let late = () => {};
  const appended = new Promise<void>((resolve) => {
    late = resolve;
  });
  let commit = () => {};
  const held = new Promise<void>((resolve) => {
    commit = resolve;
  });
  let batches = 0;
  const { transport, published } = recordingTransport(async () => {
    if (++batches === 2) {
      // The first is committed, and the next of its key too, while later places are on their way.
      commit();
      await first;
      await node.send(number('late', 2));
    }
    await pause(5);
    return undefined;
  });
  const node = createNode({ database, transport, batchSize: 5 });
  const first = database.transaction(async (tx) => {
    await node.outbox.append(tx, number('late', 1));
    late();
    await held;
  });
  await appended;
  await node.send(...range(40).map((n) => number('other', n)));
  node.relay.start();
  await eventually(async () => expect(await outboxRows(database)).toEqual([]));
  expect(published.filter(([key]) => key === 'late').map(([, n]) => n)).toEqual([1, 2]);
  expect(published.filter(([key]) => key === 'other').map(([, n]) => n)).toEqual(range(40));
  await node.relay.stop(Date.now() + 2_000);
});

test('what was read ahead of a key that fails is not published before it', async () => {
  let batches = 0;
  const { transport, published } = recordingTransport(async () => {
    await pause(5);
    return ++batches === 1 ? 'a' : undefined;
  });
  const node = createNode({ database, transport, batchSize: 4 });
  await node.send(...range(24).map((n) => number(n % 2 ? 'a' : 'b', n)));
  node.relay.start();
  await eventually(async () => expect(await outboxRows(database)).toEqual([]));
  const of = (key: string) => published.filter(([name]) => name === key).map(([, n]) => n);
  expect(of('a')).toEqual(range(12).map((n) => 2 * n + 1));
  expect(of('b')).toEqual(range(12).map((n) => 2 * n));
  await node.relay.stop(Date.now() + 2_000);
});

test('stopping in the middle of many batches leaves nothing published and still in the outbox', async () => {
  let stopped: Promise<void> | undefined;
  const { transport, published } = recordingTransport(async () => {
    await pause(5);
    if (published.length >= 20) stopped ??= node.relay.stop(Date.now());
    return undefined;
  });
  const node = createNode({ database, transport, batchSize: 10 });
  await node.send(...range(200).map((n) => number('a', n)));
  node.relay.start();
  await eventually(() => expect(stopped).toBeDefined());
  await stopped;
  const left = (await outboxRows(database)).map((row) => row.data.n);
  expect(published.length).toBeLessThan(200);
  expect([...published.map(([, n]) => n), ...left]).toEqual(range(200));
});

test('a change and its events by one statement: both, or neither', async () => {
  const { transport, published } = recordingTransport(async () => undefined);
  const node = createNode({ database, transport });
  node.relay.start();
  /** Of those below nought nothing is made. */
  const change = async (...ns: number[]) => {
    const made = await node.outbox.appendWith<{ n: number }>(
      database.sql,
      {
        text: `changed AS (
          INSERT INTO effects (consumer, key, n) SELECT 'test', 'one', n FROM unnest($1::int[]) AS n WHERE n > 0
          RETURNING n::text AS id, n)`,
        values: [ns],
      },
      ns.map((n) => ({ id: String(n), event: number('one', n) })),
    );
    return made.map(({ n }) => n);
  };
  expect(await change(1)).toEqual([1]);
  expect(await change(0)).toEqual([]);
  expect(await change(-1, 2, -2, 3)).toEqual([2, 3]);
  await Promise.all(range(10).map((n) => change(4 + n, 104 + n)));
  await database.pool.query(`ALTER TABLE outbox ADD CONSTRAINT refused CHECK (data ->> 'n' <> '1000')`);
  await expect(change(999, 1000)).rejects.toThrow('refused');
  await eventually(() => expect(published).toHaveLength(23));
  const { rows } = await database.pool.query<{ key: string; n: number }>(
    'SELECT key, n FROM effects ORDER BY sequence',
  );
  expect(rows.map(({ key, n }) => [key, n]).toSorted()).toEqual(published.toSorted());
  expect(published.slice(0, 3).map(([, n]) => n)).toEqual([1, 2, 3]);
  await node.relay.stop(Date.now() + 2_000);
});
