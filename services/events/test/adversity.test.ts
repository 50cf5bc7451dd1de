import {
  createBlacklistEntry,
  getVisitsTimeseries,
  listBlacklist,
  sendPlays,
  sendVisits,
  summarizeVisits,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addressesOf, batch, newWorld, startEvents, toldItems, type World } from './support.ts';
import { upToDate } from './support-figures.ts';
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
  return { ...world, client: world.player(service), owner: world.as(service) };
}

/** Waits until no mark is left, and returns the facts of visits and of plays. */
async function factsOf({ account }: Pick<World, 'account'>) {
  const rowsOf = async (table: string) =>
    (await service.db.query(`SELECT to_jsonb(t) AS row FROM ${table} AS t WHERE account_id = $1 ORDER BY 1`, [account]))
      .rows;
  await eventually(async () => {
    if ((await rowsOf('dirty_hours')).length > 0) throw new Error('Marks are left');
  });
  return { visits: await rowsOf('visit_facts'), plays: await rowsOf('play_hours') };
}

test('a screen, a zone and a version of a second ago, which no event has told yet, refuse nothing beside what is known', async () => {
  const world = await known();
  const { estate, versions, visit, play } = world;
  const [zone, screen] = [
    { ...world.zone, id: newId('zone') },
    { ...world.screen, id: newId('screen') },
  ];
  const state = { account_id: world.account, aggregate_version: 1 };
  owners.estate = {
    ...estate,
    zones: [...estate.zones, { ...state, zone }],
    screens: [...estate.screens, { ...state, screen: { ...screen, zone_id: zone.id } }],
  };
  const [, last = versions[0]] = versions;
  owners.versions = [...versions, { ...last, version: 3 } as (typeof versions)[number]];
  const plays = [
    play(service),
    play(service, undefined, { screen_id: screen.id }),
    play(service, undefined, { version: 3 }),
    play(service, undefined, { screen_id: screen.id, version: 3 }),
  ];
  const { body } = await world.client.call(sendPlays, batch(service, plays));
  expect(body).toMatchObject({ accepted: 4, rejected: [] });
  const fresh = visit(service);
  const zones = [{ ...fresh.zones[0], zone_id: zone.id }];
  const visits = [visit(service), { ...fresh, zones }];
  expect((await world.client.call(sendVisits, batch(service, visits))).body).toMatchObject({
    accepted: 2,
    rejected: [],
  });
  const kept = await service.db.query('SELECT zone_id FROM plays WHERE account_id = $1 AND screen_id = $2', [
    world.account,
    screen.id,
  ]);
  expect(kept.rows).toEqual([{ zone_id: zone.id }, { zone_id: zone.id }]);
});

test('a batch that is sent again for a week, and once more after a season, counts once and is told once', async () => {
  const world = await known();
  const visits = Array.from({ length: 20 }, () => world.visit(service));
  const plays = Array.from({ length: 20 }, () => world.play(service));
  const send = async () => [
    (await world.client.call(sendVisits, batch(service, visits))).body,
    (await world.client.call(sendPlays, batch(service, plays))).body,
  ];
  for (const { accepted, quarantined } of await send()) expect([accepted, quarantined]).toEqual([20, []]);
  const facts = await factsOf(world);
  expect([facts.visits.length, facts.plays.length]).toEqual([20, expect.any(Number)]);
  const pauses = [...Array.from({ length: 7 }, () => 86_400), 100 * 86_400];
  try {
    for (const seconds of pauses) {
      service.clock.advance({ seconds });
      const again = { accepted: 0, duplicates: 20, rejected: [], quarantined: [], clock_offset_ms: 0 };
      for (const answer of await send()) expect(answer).toMatchObject(again);
    }
    expect(await factsOf(world)).toEqual(facts);
    const told = await toldItems(service, world.account);
    expect(told.map(({ type }) => type).toSorted()).toEqual(['plays.accepted', 'visits.accepted']);
  } finally {
    service.clock.advance({ seconds: -pauses.reduce((sum, seconds) => sum + seconds, 0) });
  }
});

/** Text that means something to a database, a page, a spreadsheet, a terminal, a path, or JavaScript. */
const hostile = [
  "' OR '1'='1' -- aaaaa",
  '"; DROP TABLE visits; --',
  '$1, $2); DELETE FROM visits',
  '<script>alert(1)</script>',
  '=HYPERLINK("http://a.example")',
  '../../../../etc/passwd',
  '{"$ne": null, "a": "b"}',
  '%00%0d%0aX-Header: yes',
  'abcdefghijklmnop\r\nabc',
  '\u001b[2Jabcdefghijklmnop',
  '\u202eabcdefghijklmnop',
  'ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐ',
  '🦊'.repeat(16),
  'a'.repeat(65),
  'a'.repeat(60_000),
  'abcdefghijklmno',
  '',
];
/** Right keys that a careless map would take for something else, and two that differ in their case alone. */
const odd = [
  ...['__proto____proto__', 'constructorconstructor', 'hasOwnProperty____', 'NULLNULLNULLNULL', 'undefined-undefined'],
  ...[
    '----------------',
    '0000000000000000',
    '1e10000000000000',
    'AbcdefghijklmnoP',
    'abcdefghijklmnop',
    '_'.repeat(64),
  ],
];

test('visitor keys of hostile text are refused one by one, and odd ones are counted as they are', async () => {
  const world = await known();
  const visits = [...hostile, ...odd].map((visitor_key) => world.visit(service, undefined, { visitor_key, zones: [] }));
  const { status, body } = await world.client.call(sendVisits, batch(service, visits));
  expect([status, body.accepted]).toEqual([202, odd.length]);
  expect(body.rejected.map(({ index }) => index)).toEqual(hostile.map((_, index) => index));
  for (const { detail } of body.rejected) {
    expect(detail).toMatch(/^visitor_key: /);
    expect(detail.length).toBeLessThan(500);
  }
  await world.client.call(sendVisits, batch(service, [world.visit(service, undefined, { visitor_key: odd[0] })]));
  await upToDate(service, world);
  const { visits: count, visitors } = (await world.owner.call(summarizeVisits)).body;
  expect([count, visitors]).toEqual([odd.length + 1, odd.length]);

  for (const visitor_key of hostile) {
    const entry = { visitor_key, reason: 'staff' } as const;
    expect((await world.owner.call(createBlacklistEntry, { body: entry })).status).toBe(400);
    // A filter may be anything that is short enough for an address, and matches nothing.
    const listed = await world.owner.call(listBlacklist, { query: { visitor_key } });
    expect(listed.problem ? listed.status : listed.body.entries).toEqual(visitor_key.length > 200 ? 400 : []);
  }
  for (const visitor_key of odd.slice(0, 3))
    await world.owner.call(createBlacklistEntry, { body: { visitor_key, reason: 'staff' } });
  await upToDate(service, world);
  const { body: after } = await world.owner.call(getVisitsTimeseries);
  expect(after.buckets.reduce((sum, bucket) => sum + bucket.visits, 0)).toBe(odd.length - 3);
});
