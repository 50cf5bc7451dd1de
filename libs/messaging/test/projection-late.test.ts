import { randomBytes, randomInt } from 'node:crypto';
import { newId } from '@attribution/ids';
import { captureLogs, eventually } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import { createConsumer, createOutbox, type Transport } from '../src/index.ts';
import { brokers, createNode, endAfterEach, kafka, range } from './support.ts';
import {
  catchUpGadgets,
  type GadgetPage,
  type GadgetState,
  gadgets,
  gadgetTopic,
  goneEvent,
  never,
  newGadget,
  openGadgets,
  rowsOf,
  stateEvent,
  stateOf,
} from './support-projection.ts';

type Db = Awaited<ReturnType<typeof openGadgets>>;
const ending = endAfterEach();

const withKafka = brokers ? test : test.skip;

async function open(): Promise<Db> {
  const database = await openGadgets();
  ending.push(() => database.drop());
  return database;
}

/** The owner of gadgets: its rows, its events, and its snapshot. */
async function startOwner(prefix: string) {
  const database = await open();
  const transport = kafka(prefix);
  transport.declare([gadgetTopic]);
  const node = createNode({ database, transport });
  await transport.start();
  node.relay.start();
  ending.push(() => transport.close());
  ending.push(() => node.relay.stop(Date.now() + 2_000));
  const accounts = range(6).map(() => newId('account'));
  const living: GadgetState[] = [];
  const changes = { created: 0, updated: 0, deleted: 0 };

  async function write(state: GadgetState): Promise<void> {
    await database.transaction(async (tx) => {
      await gadgets.of([state])(tx);
      await node.outbox.append(tx, stateEvent(state));
    });
    living.push(state);
  }

  /** One change, of a gadget that is not being changed concurrently. */
  async function change(): Promise<void> {
    const chance = Math.random();
    const at = randomInt(Math.max(living.length, 1));
    const [state] = chance < 0.35 ? [] : living.splice(at, 1);
    if (!state) {
      changes.created++;
      const size = randomInt(2) ? Math.random() : null;
      return write(stateOf(newGadget({ size }), 1, accounts[randomInt(accounts.length)]));
    }
    const { gadget, account_id, aggregate_version } = state;
    if (chance < 0.8) {
      changes.updated++;
      const name = randomBytes(4).toString('hex');
      return write(
        stateOf({ ...gadget, name, tags: [name], box: { wide: randomInt(9) } }, aggregate_version + 1, account_id),
      );
    }
    changes.deleted++;
    await database.transaction(async (tx) => {
      await tx.$executeRawUnsafe('DELETE FROM gadgets WHERE id = $1', gadget.id);
      await node.outbox.append(tx, goneEvent(gadget.id, aggregate_version + 1, account_id));
    });
  }

  return {
    database,
    changes,
    /** So many changes, by four writers at once. */
    async make(count: number): Promise<void> {
      let left = count;
      await Promise.all(
        range(4).map(async () => {
          while (left-- > 0) await change();
        }),
      );
    },
    async published(): Promise<void> {
      await eventually(async () => {
        expect((await database.pool.query('SELECT 1 FROM outbox LIMIT 1')).rowCount).toBe(0);
      });
    },
    /** A page of what is there at this moment. */
    async page(cursor: string | null): Promise<GadgetPage> {
      const { rows } = await database.pool.query(
        `SELECT id, account_id, aggregate_version, name, size, tags, box, made_at FROM gadgets
         WHERE id > $1 ORDER BY id LIMIT 10`,
        [cursor ?? ''],
      );
      const shown = rows.map(({ account_id, aggregate_version, made_at, ...row }) =>
        stateOf({ ...row, made_at: made_at.toISOString() }, aggregate_version, account_id),
      );
      return { gadgets: shown, next_cursor: rows.length === 10 ? rows.at(-1).id : null };
    },
  };
}

/** A service of its own consumer group and database, which listens from now on. */
async function startListener(prefix: string, service: 'campaign' | 'billing'): Promise<Db> {
  const database = await open();
  const transport: Transport = kafka(prefix);
  const consumer = createConsumer({
    service,
    database,
    outbox: createOutbox(() => {}),
    handlers: gadgets.handlers,
    logger: captureLogs().logger,
  });
  transport.declare([gadgetTopic]);
  transport.subscribe(consumer.subscription);
  await transport.start();
  ending.push(() => transport.close());
  ending.push(() => transport.stopConsuming());
  return database;
}

const heardBy = async (database: Db) => Number((await database.pool.query('SELECT count(*) FROM inbox')).rows[0].count);
const until = (database: Db, events: number) => eventually(async () => expect(await heardBy(database)).toBe(events));

/** As retention does: the topic begins where it ends now. Returns how many events it has lost. */
async function forget(topic: string): Promise<number> {
  const admin = new Kafka({ brokers: brokers ?? [], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const offsets = await admin.fetchTopicOffsets(topic);
  const partitions = offsets.map(({ partition, high }) => ({ partition, offset: high }));
  await admin.deleteTopicRecords({ topic, partitions: partitions.filter(({ offset }) => offset !== '0') });
  await admin.disconnect();
  return offsets.reduce((sum, { high }) => sum + Number(high), 0);
}

withKafka('a new consumer group begins with the oldest event that its topic still has', async () => {
  const prefix = `${randomBytes(4).toString('hex')}.`;
  const owner = await startOwner(prefix);
  await owner.make(50);
  await owner.published();
  const late = await startListener(prefix, 'billing');
  await until(late, 50);
  expect(await rowsOf(late)).toEqual(await rowsOf(owner.database));
});

withKafka(
  'a late consumer, whose topic has lost its beginning, comes to the same rows as one that was there from the start',
  async () => {
    const prefix = `${randomBytes(4).toString('hex')}.`;
    const owner = await startOwner(prefix);
    const early = await startListener(prefix, 'campaign');
    await owner.make(900);
    await owner.published();
    await until(early, 900);
    const lost = await forget(`${prefix}gadgets`);
    expect(lost).toBe(900);

    await owner.make(100); // Which the topic still has when the late one comes.
    await owner.published();
    const late = await startListener(prefix, 'billing');
    let pages = 0;
    const walk = catchUpGadgets(late, async (cursor) => {
      const page = await owner.page(cursor);
      pages++;
      await new Promise((resolve) => setTimeout(resolve, randomInt(60))); // Which is older when it comes than when it was read.
      return page;
    });
    await Promise.all([walk.run(never), owner.make(1_000)]);
    await owner.published();
    await until(early, 2_000);
    await until(late, 1_100);

    expect(pages).toBeGreaterThan(10);
    expect(Math.min(...Object.values(owner.changes))).toBeGreaterThan(200);
    const rows = await rowsOf(owner.database);
    expect(await rowsOf(early)).toEqual(rows);
    expect(await rowsOf(late)).toEqual(rows);
    for (const database of [early, late])
      expect((await database.pool.query('SELECT error FROM dead_letters')).rows).toEqual([]);
  },
);
