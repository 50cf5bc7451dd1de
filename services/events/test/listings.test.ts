import { listPlays, listQuarantine, locationUpdated, sendPlays, sendVisits } from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';
import { chanceFrom, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { housekeeping } from '../src/housekeeping.ts';
import { batch, newWorld, secondsAgo, startWithPast, type World } from './support.ts';
import { daysLater, narrowedTo, type PlantedPlay, plant, tellLocation } from './support-figures.ts';

let service: TestService;
beforeAll(async () => {
  service = await startWithPast();
});
afterAll(() => service.stop());

async function known() {
  const world = newWorld();
  await world.tell(service);
  return { ...world, client: world.player(service), owner: world.as(service) };
}

/** All entries of a list, page by page. */
async function pagesOf<Entry>(
  ask: (cursor: string | undefined) => Promise<{ entries: readonly Entry[]; next_cursor: string | null }>,
): Promise<Entry[]> {
  const seen: Entry[] = [];
  for (let cursor: string | undefined; ; ) {
    const { entries, next_cursor } = await ask(cursor);
    seen.push(...entries);
    if (next_cursor === null) return seen;
    cursor = next_cursor;
  }
}

test('a play is listed with everything that is known of it', async () => {
  const { client, owner, ...world } = await known();
  const play = world.play(service, undefined, { completed: false });
  const { body: sent } = await client.call(sendPlays, batch(service, [play]));
  const { body } = await owner.call(listPlays);
  expect(body).toMatchObject({ from: null, to: null, next_cursor: null });
  expect(body.entries).toEqual([
    {
      ...{ ...play, completed: false, holdout: false },
      ...{ device_id: world.device, location_id: world.location.id, zone_id: world.zone.id },
      ...{ campaign_id: world.campaign, received_at: sent.received_at, clock_offset_ms: 0 },
    },
  ]);
});

/** Plays of two locations whose days differ, several at one moment. */
async function played() {
  const world = await known();
  const chance = chanceFrom(4);
  const far = await tellLocation(service, world, 'Pacific/Kiritimati');
  const zones = { [world.location.id]: world.location.timezone, [far.id]: far.timezone };
  const [screens, campaigns] = [
    [newId('screen'), newId('screen')],
    [world.campaign, newId('campaign')],
  ];
  const start = Date.parse('2026-10-23T00:00:00Z');
  const plays = Array.from({ length: 120 }, (): PlantedPlay => {
    const begun = start + chance.int(0, 5 * 24 * 4) * 900_000;
    return {
      ...{ event_id: newUuid(), location_id: chance.pick(Object.keys(zones)), start: begun, end: begun + 10_000 },
      ...{ screen_id: chance.pick(screens), campaign_id: chance.pick(campaigns), holdout: chance.int(1, 4) === 1 },
    };
  });
  await plant(service, world, { plays });
  const dayOf = ({ start: begun, location_id }: PlantedPlay) =>
    Temporal.Instant.fromEpochMilliseconds(begun)
      .toZonedDateTimeISO(zones[location_id] ?? '')
      .toPlainDate()
      .toString();
  return { world, far, plays: plays.map((play) => ({ ...play, day: dayOf(play) })), screens, campaigns };
}

test('plays are those of the local days and of all filters, newest first, each once over all pages', async () => {
  const { world, far, plays, screens, campaigns } = await played();
  const queries: Record<string, string>[] = [
    {},
    { holdout: 'true' },
    { from: '2026-10-25', to: '2026-10-25' },
    { from: '2026-10-26' },
    { to: '2026-10-24', holdout: 'false' },
    { screen_ids: `${screens[0]},scr_x`, campaign_ids: campaigns.join(',') },
    { campaign_ids: campaigns[1] ?? '', location_ids: far.id, holdout: 'true' },
    { group_ids: world.location.group_id },
    { screen_ids: newId('screen') },
  ];
  const includes = (joined: string | undefined, id: string) => joined === undefined || joined.split(',').includes(id);
  const groupOf = (location: string) => (location === far.id ? far.group_id : world.location.group_id);
  for (const [n, query] of queries.entries()) {
    const expected = plays
      .filter(({ holdout }) => String(holdout) === (query.holdout ?? 'false'))
      .filter(({ day }) => (query.from ?? '') <= day && day <= (query.to ?? '9'))
      .filter(
        ({ screen_id, campaign_id }) =>
          includes(query.screen_ids, screen_id) && includes(query.campaign_ids, campaign_id),
      )
      .filter(
        ({ location_id }) =>
          includes(query.location_ids, location_id) && includes(query.group_ids, groupOf(location_id)),
      )
      .toSorted((a, b) => b.start - a.start || (a.event_id < b.event_id ? 1 : -1));
    const limit = [7, 50, 200][n % 3];
    const seen = await pagesOf(
      async (cursor) => (await world.owner.call(listPlays, { query: { ...query, limit, cursor } })).body,
    );
    expect(seen.map(({ event_id, started_at }) => [event_id, Date.parse(started_at)])).toEqual(
      expected.map(({ event_id, start }) => [event_id, start]),
    );
  }
  expect(plays.some(({ day, start }) => day !== new Date(start).toISOString().slice(0, 10))).toBe(true);
});

test('plays are of the locations that the caller sees, by the groups and time zones that these have now', async () => {
  const { world, far, plays } = await played();
  const real = plays.filter(({ holdout }) => !holdout);
  const here = real.filter(({ location_id }) => location_id !== far.id);
  const count = async (client: typeof world.owner, query = {}) => {
    const page = await client.call(listPlays, { query: { limit: 200, ...query } });
    return page.body.entries.length;
  };
  const elsewhere = newId('group');
  expect(await count(world.owner)).toBe(real.length);
  expect(await count(narrowedTo(service, world, far.group_id))).toBe(real.length - here.length);
  expect(await count(narrowedTo(service, world, elsewhere))).toBe(0);
  expect(await count(narrowedTo(service, world, far.group_id), { location_ids: world.location.id })).toBe(0);
  expect(await count(newWorld().as(service))).toBe(0);

  const timezone = 'Pacific/Kiritimati';
  const location = { ...world.location, group_id: elsewhere, timezone };
  await service.deliver(locationUpdated, { account_id: world.account, aggregate_version: 2, location }, world.account);
  expect(await count(narrowedTo(service, world, elsewhere))).toBe(here.length);
  const day = (start: number) =>
    Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(timezone).toPlainDate().toString();
  const [from, to] = ['2026-10-25', daysLater('2026-10-25', 1)];
  expect(await count(world.owner, { location_ids: location.id, from, to })).toBe(
    here.filter(({ start }) => from <= day(start) && day(start) <= to).length,
  );
});

/** Sends items that no figure counts, of each reason, and those that are right. */
async function quarantined() {
  const world = await known();
  const { visit, play, client } = world;
  const day = 24 * 3_600;
  const visits = [visit(service, [-60, -90]), visit(service, [25 * day, 23 * day]), visit(service)];
  const plays = [play(service, [91 * day, 91 * day - 1]), play(service, [92 * day, 90 * day]), play(service)];
  await client.call(sendVisits, batch(service, visits, { clock_synced: true, sent_at: secondsAgo(service, 100) }));
  const { received_at } = (await client.call(sendPlays, batch(service, plays, { clock_synced: true }))).body;
  return { ...world, visits, plays, received_at };
}

test('what is in quarantine is listed as it was sent, newest first, and no play of it is among the plays', async () => {
  const { owner, device, visits, plays, received_at } = await quarantined();
  const { body } = await owner.call(listQuarantine);
  const expected = [
    { kind: 'play', reason: 'too_old', item: plays[0] },
    { kind: 'play', reason: 'too_long', item: plays[1] },
    { kind: 'visit', reason: 'future', item: visits[0] },
    { kind: 'visit', reason: 'too_long', item: visits[1] },
  ].map((one) =>
    expect.objectContaining({ ...one, event_id: one.item?.event_id, device_id: device, clock_offset_ms: 0 }),
  );
  expect(body.entries).toHaveLength(4);
  expect(body.entries).toEqual(expect.arrayContaining(expected));
  expect(body.entries.map(({ kind }) => kind)).toEqual(['play', 'play', 'visit', 'visit']);
  expect(body.entries[0]).toMatchObject({ received_at });
  expect((await owner.call(listPlays)).body.entries.map(({ event_id }) => event_id)).toEqual([plays[2]?.event_id]);

  const paged = await pagesOf(
    async (cursor) => (await owner.call(listQuarantine, { query: { limit: 1, cursor } })).body,
  );
  expect(paged).toEqual(body.entries);
  const ofDevice = async (device_id: string) =>
    (await owner.call(listQuarantine, { query: { device_id } })).body.entries;
  expect(await ofDevice(device)).toHaveLength(4);
  expect([await ofDevice(newId('device')), await ofDevice('x')]).toEqual([[], []]);
  expect((await newWorld().as(service).call(listQuarantine)).body.entries).toEqual([]);
});

test('a visit and a play in quarantine with one id, received at one moment, are two items on whatever pages', async () => {
  const { owner, client, visit, play, account } = await known();
  const [seen, shown] = [visit(service, [-60, -90]), play(service, [-60, -90])];
  await client.call(sendVisits, batch(service, [seen]));
  await client.call(sendPlays, batch(service, [{ ...shown, event_id: seen.event_id }]));
  for (const table of ['visits', 'plays'])
    await service.db.query(`UPDATE ${table} SET received_at = date_trunc('minute', now()) WHERE account_id = $1`, [
      account,
    ]);
  const paged = await pagesOf(
    async (cursor) => (await owner.call(listQuarantine, { query: { limit: 1, cursor } })).body,
  );
  expect(paged.map(({ kind }) => kind)).toEqual(['visit', 'play']);
});

const received = (world: Pick<World, 'account'>, table: string, ago: string) =>
  service.db.query(`UPDATE ${table} SET received_at = now() - $2::interval WHERE account_id = $1`, [
    world.account,
    ago,
  ]);

test('after 30 days an item in quarantine is seen no more, and purged; what counts stays', async () => {
  const world = await quarantined();
  const kinds = async () => (await world.owner.call(listQuarantine)).body.entries.map(({ kind }) => kind);
  await received(world, 'visits', '30 days');
  await received(world, 'plays', '29 days 23 hours');
  expect(await kinds()).toEqual(['play', 'play']);
  const left = async () => {
    const rows = `SELECT quarantined FROM visits WHERE account_id = $1 UNION ALL SELECT quarantined FROM plays WHERE account_id = $1`;
    return (await service.db.query(rows, [world.account])).rows.map(({ quarantined: reason }) => reason).toSorted();
  };
  expect(await left()).toHaveLength(6);
  const purge = housekeeping({ database: { pool: service.db }, clock: service.clock })['purge-quarantine'];
  expect(await purge.count()).toEqual({ visits: 2, plays: 0 });
  expect(await purge.purge()).toEqual({ visits: 2, plays: 0 });
  expect(await left()).toEqual([null, null, 'too_long', 'too_old']);
  expect(await kinds()).toEqual(['play', 'play']);
});

test('400: filters and ranges of a wrong shape; 401: nobody; 403: who is narrowed to groups, in quarantine', async () => {
  const { owner, ...world } = await known();
  const plays = async (query: Record<string, string>, client = owner) =>
    (await client.call(listPlays, { query })).status;
  const items = async (client = owner, query = {}) => (await client.call(listQuarantine, { query })).status;
  for (const query of [
    { holdout: 'yes' },
    { from: '2026-11-02', to: '2026-11-01' },
    { screen_ids: 'a,,b' },
    { campaign_ids: '' },
    { cursor: 'x' },
  ])
    expect([query, await plays(query as Record<string, string>)]).toEqual([query, 400]);
  const of = async (query: Record<string, string>) => (await owner.call(listPlays, { query })).body.next_cursor;
  expect(await of({ from: '0001-01-01', to: '9999-12-31' })).toBeNull();
  const narrowed = narrowedTo(service, world, world.location.group_id);
  expect([await items(), await items(owner, { device_id: '' }), await items(owner, { limit: 0 })]).toEqual([
    200, 400, 400,
  ]);
  expect([await items(service.client), await plays({}, service.client)]).toEqual([401, 401]);
  expect([await items(narrowed), await items(world.as(service, { svc: {} })), await plays({}, narrowed)]).toEqual([
    403, 403, 200,
  ]);
});
