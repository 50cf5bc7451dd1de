import {
  cameraCreated,
  installationCreated,
  locationDeleted,
  playsAccepted,
  sendPlays,
  sendVisits,
  visitsAccepted,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addressesOf, batch, newVisitor, newWorld, secondsAgo, startEvents, toldItems, type World } from './support.ts';
import { type Owners, startOwners } from './support-owners.ts';

let service: TestService;
let owners: Owners;
beforeAll(async () => {
  owners = await startOwners();
  service = await startEvents(addressesOf(owners));
});
afterAll(async () => {
  await service.stop();
  owners.stop();
});

async function known() {
  const world = newWorld();
  await world.tell(service);
  return { ...world, client: world.player(service) };
}
const none = { accepted: 0, duplicates: 0, rejected: [], quarantined: [] };

async function rowsOf(table: 'visits' | 'plays', { account }: Pick<World, 'account'>) {
  const { rows } = await service.db.query(`SELECT * FROM ${table} WHERE account_id = $1 ORDER BY event_id`, [account]);
  return rows;
}

test('a visit is kept with its stays, told to who follows, and counted', async () => {
  const world = await known();
  const visit = world.visit(service);
  const { status, body } = await world.client.call(sendVisits, batch(service, [visit]));
  expect([status, body]).toMatchObject([202, { ...none, accepted: 1, clock_offset_ms: 0 }]);

  const [row] = await rowsOf('visits', world);
  expect(row).toMatchObject({
    ...{ event_id: visit.event_id, device_id: world.device, location_id: world.location.id },
    ...{ visitor_key: visit.visitor_key, entered_at: new Date(visit.entered_at), quarantined: null },
  });
  expect(row.zones).toMatchObject([{ zone_id: world.zone.id, start: Date.parse(visit.entered_at) }]);
  const facts = `SELECT location_id FROM visit_facts WHERE account_id = $1 AND event_id = $2`;
  await eventually(async () =>
    expect((await service.db.query(facts, [world.account, visit.event_id])).rows).toHaveLength(1),
  );
  const told = (await toldItems(service, world.account)).filter(({ type }) => type === 'visits.accepted');
  const { location_id, ...rest } = visit;
  expect(told).toHaveLength(1);
  expect(told[0]).toMatchObject({ key: location_id, data: { location_id, visits: [rest] } });
});

test('a play is kept with its campaign and with the zone that its screen was in', async () => {
  const world = await known();
  const [play, held] = [world.play(service), world.play(service, [400, 390], { holdout: true, completed: false })];
  const { body } = await world.client.call(sendPlays, batch(service, [play, held]));
  expect(body).toMatchObject({ ...none, accepted: 2 });
  expect(await rowsOf('plays', world)).toMatchObject([
    { zone_id: world.zone.id, campaign_id: world.campaign, version: 2, completed: true, holdout: false },
    { location_id: world.location.id, campaign_id: world.campaign, completed: false, holdout: true },
  ]);
  const [told] = await toldItems(service, world.account);
  expect(told).toMatchObject({ type: 'plays.accepted', data: { plays: [{ screen_id: world.screen.id }, {}] } });
});

test('items of a location are told together, as many as an event may hold, each once', async () => {
  const world = await known();
  const { visit, play, zone } = world;
  const at = (seconds: number) => secondsAgo(service, seconds);
  const zones = Array.from({ length: 200 }, (_, n) => ({
    zone_id: zone.id,
    entered_at: at(600 - n),
    left_at: at(599 - n),
  }));
  const visits = Array.from({ length: 30 }, () =>
    visit(service, [700, 300], { zones, visitor_key: newVisitor().padEnd(64, 'k') }),
  );
  const plays = Array.from({ length: 500 }, () => play(service, undefined, { holdout: true, completed: false }));
  const answers = [
    await world.client.call(sendVisits, batch(service, visits)),
    await world.client.call(sendPlays, batch(service, plays)),
  ];
  expect(answers.map(({ body }) => body.accepted)).toEqual([30, 500]);
  const told = await toldItems(service, world.account);
  const idsOf = (name: 'visits' | 'plays') =>
    told.flatMap(({ data }) =>
      ((data as Record<string, { event_id: string }[]>)[name] ?? []).map((one) => one.event_id),
    );
  for (const [name, items] of Object.entries({ visits, plays }) as ['visits', { event_id: string }[]][])
    expect(idsOf(name)).toEqual(items.map(({ event_id }) => event_id));
  expect(told.filter(({ type }) => type === 'plays.accepted')).toHaveLength(4);
  for (const envelope of told) {
    expect(envelope.key).toBe(world.location.id);
    const { data } = envelope.type === 'plays.accepted' ? playsAccepted : visitsAccepted;
    expect(data.parse(envelope.data)).toEqual(envelope.data);
    expect(JSON.stringify(envelope).length).toBeLessThan(66_000);
  }
});

test('each item stands alone: wrong ones are named with field and value, and the others are kept', async () => {
  const world = await known();
  const { visit, client, zone } = world;
  const [foreign, now] = [newWorld(), service.clock.now()];
  const at = (seconds: number) => secondsAgo(service, seconds, now);
  owners.estate = {};
  const stay = (from: number, to: number) => ({ zone_id: zone.id, entered_at: at(from), left_at: at(to) });
  /** Within a millisecond: further digits are cut off. */
  const within = at(600).replace('Z', '00');
  const wrong: [object | null | string, RegExp][] = [
    [null, /object/],
    ['a visit', /object/],
    [{}, /event_id: is required/],
    [visit(service, undefined, { event_id: 'A' }), /event_id: must be a UUIDv7 in lower case/],
    [visit(service, undefined, { visitor_key: 'short' }), /visitor_key: .*short/],
    [visit(service, undefined, { visitor_key: `${newVisitor()}\n` }), /visitor_key/],
    [visit(service, undefined, { visitor_key: `${newVisitor()}\0` }), /^visitor_key: contains a NUL character/],
    [visit(service, undefined, { visitor_key: `${newVisitor()}\uD800` }), /^visitor_key: contains half of a surrogate/],
    [visit(service, undefined, { what: { '\0': 1 } }), /^a name in item\.what: contains a NUL character/],
    [visit(service, [300, 300]), /^left_at: must be later than entered_at, not "2\S+Z"\.$/],
    [
      visit(service, undefined, { entered_at: `${within}1Z`, left_at: `${within}9Z`, zones: [] }),
      /^left_at: must be later/,
    ],
    [visit(service, undefined, { zones: [stay(700, 500)] }), /^zones\[0\]\.entered_at: must be within .* not "2\S+Z"/],
    [visit(service, undefined, { zones: [stay(500, 200)] }), /^zones\[0\]\.left_at: must be within .* not "2\S+Z"/],
    [visit(service, undefined, { zones: [stay(500, 400), stay(400, 400)] }), /^zones\[1\]\.left_at: .* not "2\S+Z"/],
    [visit(service, undefined, { zones: [stay(500, 400), stay(450, 350)] }), /^zones\[1\]\.entered_at: .* not "2\S+Z"/],
    [visit(service, undefined, { location_id: foreign.location.id }), new RegExp(foreign.location.id)],
    [visit(service, undefined, { zones: [{ ...stay(500, 400), zone_id: foreign.zone.id }] }), /zones\[0\]\.zone_id/],
  ];
  const good = [visit(service, undefined, { zones: [stay(599, 500), stay(500, 400)] }), visit(service)];
  const items = [good[0], ...wrong.map(([item]) => item), good[1]];
  const { body } = await client.call(sendVisits, batch(service, items));
  expect(body).toMatchObject({ accepted: 2, duplicates: 0, quarantined: [] });
  expect(body.rejected.map(({ index }) => index)).toEqual(wrong.map((_, at) => at + 1));
  for (const [at, [, detail]] of wrong.entries()) expect(body.rejected[at]?.detail).toMatch(detail);
});

test('a play of a version that never was, of an unknown ad or of a screen elsewhere is refused', async () => {
  const world = await known();
  owners.versions = [];
  const { play } = world;
  const items = [
    play(service, undefined, { version: 3 }),
    play(service, undefined, { campaign_ad_id: newId('campaign_ad') }),
    play(service, undefined, { screen_id: newId('screen') }),
    play(service, [300, 310]),
    play(service),
  ];
  const { body } = await world.client.call(sendPlays, batch(service, items));
  expect(body).toMatchObject({ accepted: 1, duplicates: 0 });
  expect(body.rejected.map(({ detail }) => detail.split(':')[0])).toEqual([
    'version',
    'campaign_ad_id',
    'screen_id',
    'ended_at',
  ]);
});

test('an id is kept once, whatever else differs; a refused item does not use its id up', async () => {
  const world = await known();
  owners.estate = {};
  const first = world.visit(service);
  const changed = { ...first, visitor_key: newVisitor() };
  const again = world.visit(service);
  const lost = { ...again, location_id: newId('location') };
  const items = [first, changed, lost, again, { ...again, zones: 'nonsense' }];
  const { body } = await world.client.call(sendVisits, batch(service, items));
  expect(body).toMatchObject({ accepted: 2, duplicates: 1, rejected: [{ index: 2 }, { index: 4 }] });
  const { body: second } = await world.client.call(sendVisits, batch(service, [changed, lost, again]));
  expect(second).toMatchObject({ ...none, duplicates: 3 });
  const kept = await rowsOf('visits', world);
  expect(kept.map(({ visitor_key }) => visitor_key).toSorted()).toEqual(
    [first.visitor_key, again.visitor_key].toSorted(),
  );
  const play = world.play(service, undefined, { event_id: first.event_id });
  const { body: played } = await world.client.call(sendPlays, batch(service, [play]));
  expect(played).toMatchObject({ ...none, accepted: 1 });
});

test('items that many devices send at once are kept once', async () => {
  const world = await known();
  const items = Array.from({ length: 40 }, () => world.visit(service));
  // One device's batches have turns.
  const devices = Array.from({ length: 8 }, () => newId('device'));
  for (const device_id of devices) {
    const installation = { ...world.installation, id: newId('installation'), device_id };
    const state = { account_id: world.account, aggregate_version: 1, installation };
    await service.deliver(installationCreated, state, world.account);
  }
  const answers = await Promise.all(
    devices.map((id, n) =>
      world.player(service, id).call(sendVisits, batch(service, n % 2 ? items : items.toReversed())),
    ),
  );
  expect(answers.reduce((sum, { body }) => sum + body.accepted, 0)).toBe(40);
  expect(answers.reduce((sum, { body }) => sum + body.duplicates, 0)).toBe(7 * 40);
  expect(await rowsOf('visits', world)).toHaveLength(40);
  const told = await toldItems(service, world.account);
  const visits = told.flatMap(({ data }) => (data as { visits: { event_id: string }[] }).visits);
  expect(visits.map(({ event_id }) => event_id).toSorted()).toEqual(items.map((item) => item.event_id).toSorted());
});

test('times are moved by what the clock is wrong, and none is later than the receipt', async () => {
  const world = await known();
  const visit = world.visit(service, [3_900, 3_500]);
  const sent = { sent_at: secondsAgo(service, 3_600) };
  const { body } = await world.client.call(sendVisits, batch(service, [visit], sent));
  expect(body.accepted).toBe(1);
  expect(Math.abs(body.clock_offset_ms - 3_600_000)).toBeLessThan(30_000);
  const [row] = await rowsOf('visits', world);
  expect(row.entered_at.getTime()).toBe(Date.parse(visit.entered_at) + body.clock_offset_ms);
  expect(row.left_at).toEqual(new Date(body.received_at));
  expect(row.zones[0].end).toBe(Date.parse(body.received_at));
});

test('what is absurd is accepted into quarantine, where it is in no figure and a repetition is a duplicate', async () => {
  const world = await known();
  const items = [
    world.visit(service, [-3_600, -7_200]),
    world.visit(service, [90_000, 300]),
    world.visit(service, [8_000_000, 7_999_000]),
    world.visit(service, undefined, { entered_at: '0001-01-01T00:00:00Z', zones: [] }),
  ];
  const synced = { clock_synced: true };
  const { body } = await world.client.call(sendVisits, batch(service, items, synced));
  expect(body).toMatchObject({ accepted: 4, rejected: [] });
  expect(body.quarantined.map(({ detail }) => detail.split(':')[0])).toEqual([
    'future',
    'too_long',
    'too_old',
    'too_long',
  ]);
  const rows = await rowsOf('visits', world);
  expect(rows.map(({ entered_at }) => entered_at)).toEqual([null, null, null, null]);
  expect(rows.find(({ event_id }) => event_id === items[1]?.event_id).item).toEqual(items[1]);
  const { rows: dirty } = await service.db.query('SELECT * FROM dirty_hours WHERE account_id = $1', [world.account]);
  expect(dirty).toEqual([]);
  const { body: again } = await world.client.call(sendVisits, batch(service, items, synced));
  expect(again).toMatchObject({ ...none, duplicates: 4 });
});

test('clocks of any year end in quarantine or in an answer, never in a failure', async () => {
  const world = await known();
  for (const sent_at of [
    '0001-01-01T00:00:00Z',
    '2016-11-20T10:00:00Z',
    '2036-11-20T10:00:00Z',
    '9999-12-31T23:59:59Z',
  ]) {
    const items = [world.visit(service), world.visit(service, [600, 300], { entered_at: '0001-01-01T00:00:00Z' })];
    const { status, body } = await world.client.call(sendVisits, batch(service, items, { sent_at }));
    expect([status, body.accepted]).toEqual([202, 2]);
  }
});

test('what no event has told yet is asked for, and nothing right is refused', async () => {
  const world = newWorld();
  owners.estate = world.estate;
  owners.versions = world.versions;
  const client = world.player(service);
  const { body: visits } = await client.call(sendVisits, batch(service, [world.visit(service)]));
  const { body: plays } = await client.call(sendPlays, batch(service, [world.play(service)]));
  expect([visits, plays]).toMatchObject([{ accepted: 1 }, { accepted: 1 }]);
  const asked = owners.asked.length;
  await client.call(sendPlays, batch(service, [world.play(service), world.play(service)]));
  expect(owners.asked).toHaveLength(asked);
});

test('while it cannot be asked for, the whole batch is answered 503 and nothing of it is kept', async () => {
  const world = await known();
  const items = [world.visit(service), world.visit(service, undefined, { location_id: newId('location') })];
  owners.away = true;
  const { status } = await world.client.call(sendVisits, batch(service, items));
  owners.away = false;
  expect(status).toBe(503);
  expect(await rowsOf('visits', world)).toEqual([]);
});

test('a device may send what it saw in a location that is gone, and another device may not', async () => {
  const world = await known();
  const gone = { account_id: world.account, aggregate_version: 2, location_id: world.location.id };
  await service.deliver(locationDeleted, gone, world.account);
  owners.estate = {};
  const { body } = await world.client.call(sendVisits, batch(service, [world.visit(service)]));
  expect(body.accepted).toBe(1);
  const stranger = world.player(service, newId('device'));
  const { body: refused } = await stranger.call(sendVisits, batch(service, [world.visit(service)]));
  expect(refused).toMatchObject({ accepted: 0, rejected: [{ index: 0 }] });
  const { rows } = await service.db.query('SELECT gone FROM known_locations WHERE id = $1', [world.location.id]);
  expect(rows).toEqual([{ gone: true }]);
});

test('a device that only a camera runs on may send of where the camera is', async () => {
  const world = await known();
  const [device_id, made] = [
    newId('device'),
    { created_at: secondsAgo(service, 9), updated_at: secondsAgo(service, 9) },
  ];
  const place = { location_id: world.location.id, zone_id: world.zone.id };
  const camera = { id: newId('camera'), device_id, ...place, name: 'Above the door', external_id: null, ...made };
  await service.deliver(cameraCreated, { account_id: world.account, aggregate_version: 1, camera }, world.account);
  const { body } = await world.player(service, device_id).call(sendVisits, batch(service, [world.visit(service)]));
  expect(body).toMatchObject({ ...none, accepted: 1 });
});

test('the envelope alone makes a batch 400, and a caller who is no device gets 401', async () => {
  const world = await known();
  const { client, visit } = world;
  const statusOf = async (asked: Promise<{ status: number }>) => (await asked).status;
  const item = visit(service);
  const bodies = [
    { body: { items: [item] } },
    { body: { sent_at: 'now', items: [item] } },
    { body: { sent_at: secondsAgo(service, 0), items: [] } },
    { body: { sent_at: secondsAgo(service, 0), items: [item], more: '\0' } },
    { body: { sent_at: secondsAgo(service, 0), items: Array.from({ length: 501 }, () => ({})) } },
  ];
  for (const wrong of bodies) expect(await statusOf(client.call(sendVisits, wrong as never))).toBe(400);
  expect(await statusOf(service.client.call(sendVisits, batch(service, [item])))).toBe(401);
  expect(await statusOf(world.as(service).call(sendPlays, batch(service, [item])))).toBe(401);
  expect(await rowsOf('visits', world)).toEqual([]);
});
