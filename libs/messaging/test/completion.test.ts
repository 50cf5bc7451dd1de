import { event } from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { byReference, createInProcessTransport, newEvent, type Reference, type Transport } from '../src/index.ts';
import { accountId, createNode, openTestDatabase, outboxRows, range, things } from './support.ts';

const { type, number } = things(3);

let database: Awaited<ReturnType<typeof openTestDatabase>>;
beforeEach(async () => {
  database = await openTestDatabase();
  await database.pool.query('CREATE TABLE numbers (key text PRIMARY KEY, n int)');
});
afterEach(() => database.drop());

function recordingTransport() {
  const published: (readonly [string, unknown])[] = [];
  const transport: Transport = {
    ...createInProcessTransport(),
    async publish(messages) {
      published.push(...messages.map(({ envelope: { key, data } }) => [key, data] as const));
      return { acknowledged: messages.map(({ envelope }) => envelope.event_id), failed: [] };
    },
  };
  return { transport, published };
}

type Key = { readonly key: string };

/** Events whose number is in the table `numbers`. `calls` counts the readings. */
function referring(fails: () => boolean = () => false) {
  const calls = { count: 0 };
  const completion = byReference(
    event({ ...type, type: 'thing.referred' }),
    async (connection, references: readonly Reference<Key>[]) => {
      calls.count++;
      if (fails()) throw new Error('cannot be read now');
      const keys = references.map(({ data }) => data.key);
      const { rows } = await connection.query<{ key: string; n: number }>(
        'SELECT key, n FROM numbers WHERE key = ANY($1)',
        [keys],
      );
      return keys.map((key) => ({ account_id: accountId, key, n: rows.find((row) => row.key === key)?.n ?? 0 }));
    },
  );
  const refer = (key: string) => completion.refer({ key }, { accountId, occurredAt: new Date() });
  return { completion, refer, calls };
}

test('an event by reference is kept as its reference, and published with the data that its rows have', async () => {
  const { transport, published } = recordingTransport();
  const { completion, refer, calls } = referring();
  const node = createNode({ database, transport, completions: [completion] });
  await database.pool.query('INSERT INTO numbers SELECT $1 || n, n FROM generate_series(0, 9) AS n', ['key ']);
  await node.send(...range(10).map((n) => refer(`key ${n}`)), number('whole', 7));
  expect((await outboxRows(database)).map(({ data }) => data)).toEqual([
    ...range(10).map((n) => ({ key: `key ${n}` })),
    { account_id: accountId, key: 'whole', n: 7 },
  ]);
  node.relay.start();
  await eventually(async () => expect(await outboxRows(database)).toEqual([]));
  await node.relay.stop(Date.now() + 2_000);
  expect(published).toEqual([
    ...range(10).map((n) => [`key ${n}`, { account_id: accountId, key: `key ${n}`, n }]),
    ['whole', { account_id: accountId, key: 'whole', n: 7 }],
  ]);
  expect(calls.count).toBe(1);
});

test('an event that was appended whole, before its type was one by reference, is published as it is', async () => {
  const { transport, published } = recordingTransport();
  const { completion, refer, calls } = referring();
  const node = createNode({ database, transport, completions: [completion] });
  const whole = { account_id: accountId, key: 'former', n: 4 };
  const context = { accountId, occurredAt: new Date() };
  await database.pool.query(`INSERT INTO numbers VALUES ('now', 5)`);
  await node.send(newEvent(event({ ...type, type: 'thing.referred' }), whole, context), refer('now'));
  node.relay.start();
  await eventually(async () => expect(await outboxRows(database)).toEqual([]));
  await node.relay.stop(Date.now() + 2_000);
  expect(published).toEqual([
    ['former', whole],
    ['now', { account_id: accountId, key: 'now', n: 5 }],
  ]);
  expect(calls.count).toBe(1);
});

test('as long as references cannot be read their events wait, and none is published before its turn', async () => {
  const { transport, published } = recordingTransport();
  let failures = 2;
  const { completion, refer } = referring(() => failures-- > 0);
  const node = createNode({ database, transport, completions: [completion] });
  await database.pool.query(`INSERT INTO numbers VALUES ('same', 1)`);
  await node.send(refer('same'), number('same', 2));
  node.relay.start();
  await eventually(async () => expect(await outboxRows(database)).toEqual([]));
  await node.relay.stop(Date.now() + 2_000);
  expect(failures).toBeLessThan(0);
  expect(published.map(([, data]) => (data as { n: number }).n)).toEqual([1, 2]);
});
