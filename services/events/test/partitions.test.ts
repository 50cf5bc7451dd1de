import { sendPlays, sendVisits } from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import { createTestDatabase, eventually, openBareDatabase, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { boundsOf, firstIdOf, monthOf, monthsAround } from '../src/partitions/months.ts';
import { findMonths } from '../src/partitions/partition.store.ts';
import { partitionsAt, partitionsJob } from '../src/partitions/partitions.ts';
import { batch, newVisitor, newWorld, startEvents } from './support.ts';
import { caughtUp } from './support-stored.ts';

let service: TestService;
beforeAll(async () => {
  service = await startEvents();
});
afterAll(() => service.stop());

const dayMs = 86_400_000;
const { signal } = new AbortController();
const right = { clock_synced: true };

/** An id as a clock that shows this instant makes it. */
const idAt = (instant: number) => firstIdOf(instant).slice(0, 13) + newUuid().slice(13);

/** The table that each item lies in, by its id. */
async function partitionOf(id: string, table = 'visits') {
  const { rows } = await service.db.query(`SELECT tableoid::regclass::text AS name FROM ${table} WHERE event_id = $1`, [
    id,
  ]);
  return rows.map(({ name }) => name);
}

const run = (now: number, retentionDays = 400, pool = service.db) =>
  partitionsJob({ database: { pool }, clock: { now: () => new Date(now) }, retentionDays }).run(signal);

test('a month is that of the universal time, and ids are of it from its first millisecond to its last', () => {
  const { from, to } = boundsOf('2027_12');
  expect([from, to]).toEqual([Date.UTC(2027, 11, 1), Date.UTC(2028, 0, 1)]);
  expect([monthOf(from), monthOf(to - 1), monthOf(to)]).toEqual(['2027_12', '2027_12', '2028_01']);
  expect(monthsAround(Date.UTC(2028, 2, 31), 2, 1)).toEqual(['2028_01', '2028_02', '2028_03', '2028_04']);
  expect(firstIdOf(from) <= idAt(from) && idAt(to - 1) < firstIdOf(to) && firstIdOf(to) <= idAt(to)).toBe(true);
  expect(firstIdOf(0x01968f3e7a4b)).toBe('01968f3e-7a4b-0000-0000-000000000000');
});

test('months are kept whole: one leaves when its last instant is older than the retention', () => {
  const now = Date.UTC(2027, 4, 20);
  expect(partitionsAt(now, 400)).toMatchObject({ keptSince: Date.UTC(2026, 3, 1) });
  expect(partitionsAt(now, 400).months).toEqual(monthsAround(now, 4, 3));
  expect(partitionsAt(now, 100).months).toEqual(monthsAround(now, 3, 3));
});

test('there are partitions for what comes late and for months ahead; an id is a duplicate in whichever it lies', async () => {
  const now = service.clock.now().getTime();
  await eventually(async () => {
    for (const table of ['visits', 'plays'] as const)
      expect(await findMonths(service.db, table)).toEqual(monthsAround(now, 4, 3));
  });
  const world = newWorld();
  await world.tell(service);
  const client = world.player(service);
  const instants = [now, now - 80 * dayMs, now + 60 * dayMs, Date.UTC(1999, 5, 1), Date.UTC(2130, 5, 1)];
  const names = [...instants.slice(0, 3).map(monthOf), 'default', 'default'];
  const visits = instants.map((instant) => world.visit(service, undefined, { event_id: idAt(instant) }));
  const plays = instants.map((instant) => world.play(service, undefined, { event_id: idAt(instant) }));
  for (const [operation, table, items] of [
    [sendVisits, 'visits', visits],
    [sendPlays, 'plays', plays],
  ] as const) {
    expect((await client.call(operation, batch(service, items))).body).toMatchObject({ accepted: 5, quarantined: [] });
    const again = await client.call(operation, batch(service, items.toReversed()));
    expect(again.body).toMatchObject({ accepted: 0, duplicates: 5 });
    const lie = await Promise.all(items.map(({ event_id }) => partitionOf(event_id, table)));
    expect(lie).toEqual(names.map((name) => [`${table}_${name}`]));
  }
  // Its month comes: the item moves, and is a duplicate there too.
  const [, , , , future] = visits;
  await run(Date.UTC(2130, 4, 1), 40_000);
  expect(await partitionOf(future?.event_id ?? '')).toEqual(['visits_2130_06']);
  const moved = await client.call(sendVisits, batch(service, [future]));
  expect(moved.body).toMatchObject({ accepted: 0, duplicates: 1 });
});

type Pool = TestService['db'];

const january = Date.UTC(2027, 0, 15);

/** A database of its own, which two processes work on. */
async function inTwoProcesses(work: (pools: readonly [Pool, Pool]) => Promise<void>): Promise<void> {
  const own = await createTestDatabase('events');
  const open = () => openBareDatabase({ url: own.url, poolSize: 6, statementTimeout: 30_000 });
  const [first, second] = [open(), open()];
  try {
    await work([first.pool, second.pool]);
  } finally {
    await Promise.all([first.close(), second.close()]);
    await own.drop();
  }
}

const insert = (pool: Pool, ids: readonly string[]) =>
  pool.query(
    `INSERT INTO visits (account_id, event_id, device_id, location_id, visitor_key, zones, received_at,
       clock_offset_ms, quarantined)
     SELECT 'acc', id, 'dev', 'loc', 'key', '[]', $2, 0, 'future' FROM unnest($1::uuid[]) AS id ON CONFLICT DO NOTHING`,
    [ids, new Date(january)],
  );

const countIn = async (pool: Pool): Promise<number> =>
  (await pool.query<{ count: number }>('SELECT count(*)::int FROM visits')).rows[0]?.count ?? 0;

test('processes that make and drop partitions at once, while items come, make each once and lose nothing', () =>
  inTwoProcesses(async (pools) => {
    const ids = Array.from({ length: 60 }, (_, n) => idAt(january + (n % 12) * 10 * dayMs));
    const runAll = (now: number) => Promise.all([...pools, ...pools].map((pool) => run(now, 400, pool)));
    await Promise.all([
      runAll(january),
      ...pools.map(async (pool) => {
        for (const id of ids) await insert(pool, [id]);
      }),
    ]);
    expect(await findMonths(pools[0], 'visits')).toEqual(monthsAround(january, 4, 3));
    expect(await countIn(pools[0])).toBe(ids.length);
    // They were received within what is kept, and their months begin to leave.
    const later = january + 400 * dayMs;
    await runAll(later);
    expect(await countIn(pools[0])).toBe(ids.length);
    await runAll(later + 150 * dayMs);
    expect(await countIn(pools[0])).toBe(0);
  }));

test('who reads while items move to their months, or out of those that leave, finds all of them at any moment', () =>
  inTwoProcesses(async ([writer, reader]) => {
    const ids = Array.from({ length: 500 }, (_, n) => idAt(january - (n % 100) * dayMs));
    await insert(writer, ids);
    let moving = true;
    const read = async () => {
      const counts = new Set<number>();
      do counts.add(await countIn(reader));
      while (moving);
      return [...counts];
    };
    const reading = [read(), read()];
    await run(january, 400, writer);
    await run(january + 400 * dayMs, 400, writer);
    moving = false;
    expect(await Promise.all(reading)).toEqual([[ids.length], [ids.length]]);
    expect(await findMonths(writer, 'visits')).not.toContain(monthOf(january - 30 * dayMs));
  }));

test('items leave by their months and strays by their receipt; figures stay, also when they would be made anew', async () => {
  const world = newWorld('UTC');
  await world.tell(service);
  const client = world.player(service);
  const now = service.clock.now().getTime();
  const visitor_key = newVisitor();
  const old = world.visit(service, [80 * 86_400, 80 * 86_400 - 300], { visitor_key, event_id: idAt(now - 80 * dayMs) });
  const strays = [Date.UTC(1999, 5, 1), now - 100 * dayMs].map((at) =>
    world.visit(service, undefined, { event_id: idAt(at) }),
  );
  await client.call(sendVisits, batch(service, [old, ...strays], right));
  const facts = async () => {
    const { rows } = await service.db.query('SELECT * FROM visit_facts WHERE account_id = $1 ORDER BY event_id', [
      world.account,
    ]);
    return rows;
  };
  await caughtUp(service, world.account);
  const before = await facts();
  expect(before).toHaveLength(3);

  // 30 days before what was received today leaves, all but the last month is older than the retention.
  await run(boundsOf(monthOf(now)).from + 400 * dayMs);
  expect(await findMonths(service.db, 'visits')).not.toContain(monthOf(now - dayMs * 32));
  expect(await partitionOf(old.event_id)).toEqual(['visits_default']);
  for (const { event_id } of strays) expect(await partitionOf(event_id)).toEqual(['visits_default']);

  await run(boundsOf(monthOf(now)).to + 400 * dayMs);
  for (const { event_id } of [old, ...strays]) expect(await partitionOf(event_id)).toEqual([]);
  await service.db.query(
    `INSERT INTO dirty_hours (account_id, location_id, hour, marked_at)
     SELECT DISTINCT account_id, location_id, date_trunc('hour', entered_at), now() FROM visit_facts WHERE account_id = $1`,
    [world.account],
  );
  await caughtUp(service, world.account);
  expect(await facts()).toEqual(before);
});
