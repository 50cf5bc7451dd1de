import { captureLogs, eventually } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { range } from './support.ts';
import {
  catchUpGadgets,
  type GadgetPage,
  goneEvent,
  listener,
  never,
  newGadget,
  openGadgets,
  rowsOf,
  stateEvent,
  stateOf,
  versionsOf,
} from './support-projection.ts';

let database: Awaited<ReturnType<typeof openGadgets>>;
beforeEach(async () => {
  database = await openGadgets();
});
afterEach(() => database.drop());

const pageSize = 3;
/** What there is, in the order of ids, and its pages. `asked` has each cursor that a page was asked from. */
function source(count: number) {
  const states = range(count).map((n) => stateOf(newGadget({ name: `${n}` }), n + 1));
  const asked: (string | null)[] = [];
  const pages = async (cursor: string | null): Promise<GadgetPage> => {
    asked.push(cursor);
    const from = Number(cursor ?? 0);
    const next = from + pageSize;
    return { gadgets: states.slice(from, next), next_cursor: next < count ? `${next}` : null };
  };
  return { states, asked, pages, versions: Object.fromEntries(states.map((s) => [s.gadget.id, s.aggregate_version])) };
}

test('every page is read once, and after the last no more requests are made', async () => {
  const { pages, asked, versions } = source(10);
  const logs = captureLogs();
  await catchUpGadgets(database, pages, logs).run(never);
  expect(await versionsOf(database)).toEqual(versions);
  await catchUpGadgets(database, pages, logs).run(never);
  expect(asked).toEqual([null, '3', '6', '9']);
  expect(logs.text().match(/read to its end/g)).toHaveLength(1);
});

test('a rebuild, which is the deletion of its row, brings back what is missing and what is older', async () => {
  const { pages, versions } = source(10);
  await catchUpGadgets(database, pages).run(never);
  await database.pool.query(`DELETE FROM gadgets WHERE name IN ('1', '8')`);
  await database.pool.query(`UPDATE gadgets SET aggregate_version = 0, name = 'old' WHERE name = '4'`);
  await database.pool.query('DELETE FROM projection_snapshots');
  await catchUpGadgets(database, pages).run(never);
  expect(await versionsOf(database)).toEqual(versions);
  expect((await rowsOf(database)).join()).not.toContain('old');
});

test('after a crash between pages the next run continues with the next page', async () => {
  const { pages, asked, versions } = source(10);
  const crash = new Promise<never>(() => {}); // A response that never arrives.
  void catchUpGadgets(database, (cursor) => (cursor === '6' ? crash : pages(cursor))).run(never);
  await eventually(async () => expect(Object.keys(await versionsOf(database))).toHaveLength(6));
  await catchUpGadgets(database, pages).run(never);
  expect(asked).toEqual([null, '3', '6', '9']);
  expect(await versionsOf(database)).toEqual(versions);
});

test('a page whose rows cannot be written leaves nothing behind, and is read again', async () => {
  const { pages, asked, versions } = source(10);
  await database.pool.query(`ALTER TABLE gadgets ADD CONSTRAINT refuse CHECK (name <> '5')`);
  await expect(catchUpGadgets(database, pages).run(never)).rejects.toThrow('refuse');
  expect(Object.keys(await versionsOf(database))).toHaveLength(3);
  await database.pool.query('ALTER TABLE gadgets DROP CONSTRAINT refuse');
  await catchUpGadgets(database, pages).run(never);
  expect(asked).toEqual([null, '3', '3', '6', '9']);
  expect(await versionsOf(database)).toEqual(versions);
});

test('of two replicas that walk at once, neither takes a page that the other has taken, nor goes back', async () => {
  const { pages, versions } = source(60);
  await database.pool.query(`
    CREATE TABLE walked (cursor text);
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO walked VALUES (NEW.cursor); RETURN NULL; END $$;
    CREATE TRIGGER note AFTER UPDATE ON projection_snapshots FOR EACH ROW EXECUTE FUNCTION note()`);
  const dawdling = async (cursor: string | null) => {
    const page = await pages(cursor);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
    return page;
  };
  await Promise.all([catchUpGadgets(database, dawdling).run(never), catchUpGadgets(database, dawdling).run(never)]);
  const { rows } = await database.pool.query<{ cursor: string | null }>('SELECT cursor FROM walked');
  const ends = range(19).map((n): string | null => `${(n + 1) * pageSize}`);
  expect(rows.map(({ cursor }) => cursor)).toEqual([...ends, null]);
  expect(await versionsOf(database)).toEqual(versions);
});

test('a page that shows a newer state than the next events keeps it; an older page than the events changes nothing', async () => {
  const { deliver } = listener(database);
  const [newer, older, gone] = [newGadget(), newGadget(), newGadget()];
  await deliver(stateEvent(stateOf({ ...older, name: 'by event' }, 5)), goneEvent(gone.id, 3));
  const shown = [stateOf({ ...newer, name: 'by page' }, 4), stateOf(older, 2), stateOf(gone, 2)];
  await catchUpGadgets(database, async () => ({ gadgets: shown, next_cursor: null })).run(never);
  await deliver(stateEvent(stateOf(newer, 2)), stateEvent(stateOf(newer, 3)), stateEvent(stateOf(newer, 4)));
  const { rows } = await database.pool.query('SELECT name, aggregate_version FROM gadgets ORDER BY name');
  expect(rows).toEqual([
    { name: 'by event', aggregate_version: 5 },
    { name: 'by page', aggregate_version: 4 },
  ]);
});

test('while the owner is unavailable the read is retried, the failure logged once, and the pages read later', async () => {
  const { pages, versions } = source(4);
  const logs = captureLogs();
  let tries = 0;
  const away = (cursor: string | null) => (++tries < 4 ? Promise.reject(new Error('unavailable')) : pages(cursor));
  await catchUpGadgets(database, away, logs).run(never);
  expect(await versionsOf(database)).toEqual(versions);
  expect(logs.text().match(/cannot be read yet/g)).toHaveLength(1);
});

test('the job stops between two pages, and at once while the owner is unavailable', async () => {
  const { pages } = source(10);
  const stop = new AbortController();
  await catchUpGadgets(database, async (cursor) => {
    if (cursor === '3') stop.abort();
    return pages(cursor);
  }).run(stop.signal);
  expect(Object.keys(await versionsOf(database))).toHaveLength(6);

  const other = new AbortController();
  const attempt = Promise.withResolvers<void>();
  let attempts = 0;
  const fail = () => {
    attempts++;
    attempt.resolve();
    return Promise.reject(new Error('unavailable'));
  };
  const hour = { first: 3_600_000, longest: 3_600_000 };
  const waiting = catchUpGadgets(database, fail, captureLogs(), hour).run(other.signal);
  await attempt.promise;
  other.abort();
  await waiting; // It would take an hour.
  expect(attempts).toBe(1);
});
