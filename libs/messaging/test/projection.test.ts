import { event } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { onBatch } from '../src/index.ts';
import { accountId, range } from './support.ts';
import {
  catchUpGadgets,
  gadgetDeleted,
  gadgets,
  goneEvent,
  listener,
  never,
  newGadget,
  openGadgets,
  rowsOf,
  slowDown,
  stateEvent,
  stateOf,
  versionsOf,
} from './support-projection.ts';

let database: Awaited<ReturnType<typeof openGadgets>>;
beforeEach(async () => {
  database = await openGadgets();
});
afterEach(() => database.drop());

const deadLetters = async () => (await database.pool.query('SELECT error FROM dead_letters')).rows;

describe('a state', () => {
  test('is a row, with columns of every kind, null ones too', async () => {
    const { deliver } = listener(database);
    const box = { wide: 3 };
    const made_at = '2026-01-02T03:04:05.678Z';
    const [full, bare] = [
      newGadget({ name: `O'Neil "\\" €`, size: 1.5, tags: ['a', '{,}'], made_at, box }),
      newGadget(),
    ];
    await deliver(stateEvent(stateOf(full, 1)), stateEvent(stateOf(bare, 7)));
    const { rows } = await database.pool.query('SELECT * FROM gadgets ORDER BY aggregate_version');
    const row = { account_id: accountId, aggregate_version: 1 };
    expect(rows).toEqual([
      { ...row, ...full, made_at: new Date(made_at) },
      { ...row, ...bare, made_at: new Date(bare.made_at), aggregate_version: 7 },
    ]);
  });

  test('that is older than the row changes nothing, whether they come one by one or together', async () => {
    const gadget = newGadget();
    const states = range(5).map((n) => stateEvent(stateOf({ ...gadget, name: `${n + 1}` }, n + 1)));
    const { deliver } = listener(database);
    for (const at of [2, 0, 4, 3, 1, 4]) await deliver(states[at] as never);
    const name = async () => (await database.pool.query('SELECT name, aggregate_version FROM gadgets')).rows;
    expect(await name()).toEqual([{ name: '5', aggregate_version: 5 }]);
    await database.pool.query('TRUNCATE gadgets, inbox');
    await deliver(...[2, 0, 4, 3, 1].map((at) => states[at] as never));
    expect(await name()).toEqual([{ name: '5', aggregate_version: 5 }]);
  });

  test('that comes as another event of the same version changes nothing', async () => {
    const gadget = newGadget({ name: 'first' });
    const { deliver } = listener(database);
    await deliver(stateEvent(stateOf(gadget, 3)));
    await deliver(stateEvent(stateOf({ ...gadget, name: 'second' }, 3)));
    expect((await rowsOf(database)).join()).toContain('first');
  });
});

describe('what is deleted', () => {
  test('stays so, whatever older comes after: one by one, together, and before the deletion in one batch', async () => {
    const { deliver } = listener(database);
    const [one, two, three, kept] = [newGadget(), newGadget(), newGadget(), newGadget()];
    await deliver(stateEvent(stateOf(one, 1)), stateEvent(stateOf(kept, 1)));
    await deliver(goneEvent(one.id, 3));
    await deliver(stateEvent(stateOf(one, 2)));
    await deliver(goneEvent(two.id, 2), stateEvent(stateOf(two, 1)));
    await deliver(stateEvent(stateOf(three, 1)), goneEvent(three.id, 2));
    await deliver(goneEvent(three.id, 2), goneEvent(newGadget().id, 1));
    expect(await versionsOf(database)).toEqual({ [kept.id]: 1 });
    expect((await database.pool.query('SELECT id FROM projection_tombstones')).rowCount).toBe(4);
  });

  test('is gone in the transaction of the deletion’s other effects, or is there when one of them fails', async () => {
    let broken = true;
    const effect = onBatch(gadgetDeleted, async (tx) => {
      const rows = await tx.$queryRawUnsafe<unknown[]>('SELECT 1 FROM gadgets');
      if (rows.length > 0) throw new Error('The row is still there');
      if (broken) throw new Error('not now');
    });
    const { deliver, consumer } = listener(database, [...gadgets.handlers, effect] as never);
    const gadget = newGadget();
    await deliver(stateEvent(stateOf(gadget, 1)), goneEvent(gadget.id, 2));
    expect(await deadLetters()).toEqual([{ error: 'not now' }]);
    expect(await versionsOf(database)).toEqual({ [gadget.id]: 1 });
    broken = false;
    await database.pool.query('UPDATE dead_letters SET replay_requested_at = now()');
    await consumer.replay();
    expect(await deadLetters()).toEqual([]);
    expect(await versionsOf(database)).toEqual({});
  });

  test('at the moment when a page of a snapshot shows it, is gone after that, in each of many rounds', async () => {
    await slowDown(database);
    const { deliver } = listener(database);
    for (const round of range(60)) {
      const shown = range(8).map(() => stateOf(newGadget(), 1));
      await database.pool.query('DELETE FROM projection_snapshots');
      const page = async () => ({ gadgets: shown, next_cursor: null });
      const deletions = shown.map(({ gadget }) => goneEvent(gadget.id, 2, newId('account')));
      await Promise.all([
        catchUpGadgets(database, page).run(never),
        ...[0, 4].map(async (from) => {
          await new Promise((resolve) => setTimeout(resolve, (round % 10) * 2));
          await deliver(...deletions.slice(from, from + 4));
        }),
      ]);
      expect(await versionsOf(database)).toEqual({});
    }
    expect(await deadLetters()).toEqual([]);
  });

  test('while an older dead letter of it is replayed, is gone after that, in each of many rounds', async () => {
    await slowDown(database);
    const { deliver, consumer } = listener(database);
    for (const round of range(60)) {
      const gadget = newGadget();
      const { envelope } = stateEvent(stateOf(gadget, 1)).message;
      await database.pool.query(
        `INSERT INTO dead_letters (consumer, event_id, topic, envelope, attempts, error, replay_requested_at)
         VALUES ('campaign', $1, 'gadgets', $2, 5, 'x', now())`,
        [envelope.event_id, JSON.stringify(envelope)],
      );
      await Promise.all([
        consumer.replay(),
        new Promise((resolve) => setTimeout(resolve, round % 6)).then(() => deliver(goneEvent(gadget.id, 2))),
      ]);
      expect(await versionsOf(database)).toEqual({});
    }
  });
});

describe('events that follow each other', () => {
  test('and are of one projection take effect together, in few statements; what stands between keeps its place', async () => {
    await database.pool.query(`
      CREATE TABLE statements (ordinal serial, what text);
      CREATE FUNCTION say() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO statements (what) VALUES (TG_OP); RETURN NULL; END $$;
      CREATE TRIGGER say AFTER INSERT OR DELETE ON gadgets FOR EACH STATEMENT EXECUTE FUNCTION say()`);
    const other = event({ ...gadgetDeleted, type: 'gadget.polished' });
    const polish = onBatch(other, async (tx) => {
      await tx.$executeRaw`INSERT INTO statements (what) SELECT 'polished beside ' || count(*) FROM gadgets`;
    });
    const { deliver } = listener(database, [...gadgets.handlers, polish] as never);
    const [one, two, three] = [newGadget(), newGadget(), newGadget()];
    const polished = { message: { ...goneEvent(one.id, 9).message } };
    polished.message.envelope = { ...polished.message.envelope, type: 'gadget.polished' };
    await deliver(
      stateEvent(stateOf(one, 1)),
      stateEvent(stateOf(one, 2)),
      stateEvent(stateOf(two, 1)),
      goneEvent(one.id, 3),
      polished,
      stateEvent(stateOf(three, 1)),
      goneEvent(two.id, 2),
    );
    const { rows } = await database.pool.query<{ what: string }>('SELECT what FROM statements ORDER BY ordinal');
    const statements = rows.map(({ what }) => what);
    expect(statements).toEqual(['INSERT', 'DELETE', 'polished beside 1', 'INSERT', 'DELETE']);
    expect(await versionsOf(database)).toEqual({ [three.id]: 1 });
  });

  test('about the same resources in many accounts, concurrent with pages, end without a deadlock', async () => {
    await slowDown(database); // Whoever writes has some rows for a while before the next.
    // A join by hash would bring rows in one order by chance.
    await database.pool.query(`DO $$ BEGIN
      EXECUTE format('ALTER DATABASE %I SET enable_hashjoin = off', current_database());
      EXECUTE format('ALTER DATABASE %I SET enable_mergejoin = off', current_database()); END $$`);
    const things = range(12).map(() => newGadget());
    const { rows: before } = await database.pool.query(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    );
    const write = async (n: number) => {
      const order = n % 2 ? things : [...things].reverse();
      await listener(database).deliver(
        ...order.map((gadget) => stateEvent(stateOf(gadget, n + 1, newId('account')))),
        goneEvent(newGadget().id, 1),
      );
    };
    const page = async () => ({ gadgets: things.map((gadget) => stateOf(gadget, 1)), next_cursor: null });
    const read = async () => {
      await database.pool.query('DELETE FROM projection_snapshots');
      await catchUpGadgets(database, page).run(never);
    };
    for (const _ of range(3)) await Promise.all([...range(8).map(write), read(), read()]);
    expect(Object.values(await versionsOf(database))).toEqual(things.map(() => 8));
    expect(await deadLetters()).toEqual([]);
    await database.pool.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await database.pool.query(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    );
    expect(rows).toEqual(before);
  });
});
