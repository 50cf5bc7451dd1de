import {
  createBlacklistEntry,
  deleteBlacklistEntry,
  getCampaignLift,
  getCampaignPerformance,
  getCampaignTimeseries,
  getVisitsTimeseries,
  locationUpdated,
  sendPlays,
  sendVisits,
  summarizeVisits,
} from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';
import { chanceFrom, eventually, type RawPlay, type RawVisit, recountOf, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addressesOf, batch, newVisitor, newWorld, startWithPast, type World } from './support.ts';
import { type Owners, startOwners } from './support-owners.ts';
import { caughtUp } from './support-stored.ts';

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
/** Within 90 days before it lie changes of three clocks: two forward, by an hour and by half of one, and one back. */
const now = Date.parse('2026-11-10T12:00:00Z');
const shops = [
  { timezone: 'Europe/Zurich', change: Date.parse('2026-10-25T01:00:00Z') },
  { timezone: 'America/Santiago', change: Date.parse('2026-09-06T04:00:00Z') },
  { timezone: 'Australia/Lord_Howe', change: Date.parse('2026-10-03T15:30:00Z') },
];

let service: TestService;
let owners: Owners;
beforeAll(async () => {
  owners = await startOwners();
  service = await startWithPast(addressesOf(owners));
  service.clock.advance({ seconds: (now - Date.now()) / 1000 });
});
afterAll(async () => {
  await service.stop();
  owners.stop();
});

/** Places and campaigns by their number, so that several accounts have the same. Times are whole minutes. */
type Visit = Omit<RawVisit, 'location_id' | 'zones'> & { readonly at: number; readonly stays: RawVisit['zones'] };
type Play = Omit<RawPlay, 'location_id' | 'zone_id' | 'screen_id' | 'campaign_id'> & {
  readonly event_id: string;
  readonly at: number;
  readonly campaign: number;
};

function itemsOf(seed: number) {
  const chance = chanceFrom(seed);
  const people = Array.from({ length: 400 }, newVisitor);
  const place = () => chance.int(0, shops.length - 1);
  const time = (at: number) =>
    chance.int(1, 3) === 1
      ? Math.floor((now - 9 * day) / hour) * hour + chance.int(0, 8 * 24 * 60) * minute
      : (shops[at]?.change ?? 0) + chance.int(-36 * 60, 36 * 60) * minute;

  const visits = Array.from({ length: 5_000 }, (): Visit => {
    const [at, visitor_key] = [place(), chance.pick(people)];
    const start = time(at);
    const end = start + chance.int(2, 40) * minute;
    const [a = 0, b = 0] = [chance.int(0, 40), chance.int(0, 40)].toSorted((x, y) => x - y);
    const stay = { zone_id: '', start: start + a * minute, end: Math.min(end, start + b * minute) };
    return { event_id: newUuid(), at, visitor_key, start, end, stays: stay.start < stay.end ? [stay] : [] };
  });
  const plays = Array.from({ length: 20_000 }, (): Play => {
    const [at, campaign] = [place(), place()];
    const start = time(at);
    const held = campaign === 0 && chance.int(1, 10) === 1;
    const told = { version: chance.int(1, 2), holdout: held, completed: chance.int(1, 5) > 1 };
    return { event_id: newUuid(), at, campaign, start, end: start + chance.int(1, 3) * minute, ...told };
  });
  /** Everywhere; in one place; and for a while. */
  const barred = [
    { visitor_key: people[0] ?? '' },
    { visitor_key: people[1] ?? '', at: 0 },
    { visitor_key: people[2] ?? '', from: now - 5 * day, until: now - 3 * day },
  ];
  return { visits, plays, barred };
}
type Items = ReturnType<typeof itemsOf>;

const isBarred = ({ barred }: Items, { visitor_key, at, start }: Visit) =>
  barred.some(
    (entry) =>
      entry.visitor_key === visitor_key &&
      (entry.at ?? at) === at &&
      (entry.from ?? start) <= start &&
      start < (entry.until ?? Number.POSITIVE_INFINITY),
  );

const iso = (instant: number) => new Date(instant).toISOString();

/** Sends again whatever is told to come again, as devices and people do. Any other response is the one to be judged. */
const patiently = <Answer extends { readonly status: number }>(ask: () => Promise<Answer>): Promise<Answer> =>
  eventually(async () => {
    const answer = await ask();
    if (answer.status === 503) throw new Error('answered 503');
    return answer;
  });

async function newAccount() {
  const account = newId('account');
  const worlds = shops.map(({ timezone }) => newWorld(timezone, account));
  for (const world of worlds) await world.tell(service);
  const owner = (worlds[0] as World).as(service);
  const worldOf = (at: number) => worlds[at] as World;
  const inBatch = <T>(items: readonly T[]) => batch(service, items, { clock_synced: true });

  return {
    worlds,
    owner,
    async send({ visits, plays }: { visits?: readonly Visit[]; plays?: readonly Play[] }) {
      for (const at of shops.keys()) {
        const { location, zone, screen, player } = worldOf(at);
        const seen = (visits ?? []).filter((visit) => visit.at === at);
        const shown = (plays ?? []).filter((play) => play.at === at);
        const items = seen.map(({ event_id, visitor_key, start, end, stays }) => ({
          ...{ event_id, visitor_key, location_id: location.id, entered_at: iso(start), left_at: iso(end) },
          zones: stays.map((stay) => ({ zone_id: zone.id, entered_at: iso(stay.start), left_at: iso(stay.end) })),
        }));
        const played = shown.map(({ event_id, campaign, version, holdout, completed, start, end }) => ({
          ...{ event_id, screen_id: screen.id, campaign_ad_id: worldOf(campaign).ad, version, holdout, completed },
          ...{ started_at: iso(start), ended_at: iso(end) },
        }));
        const client = player(service);
        for (const { length, body } of [
          ...(items.length > 0
            ? [{ length: items.length, ...(await patiently(() => client.call(sendVisits, inBatch(items)))) }]
            : []),
          ...(played.length > 0
            ? [{ length: played.length, ...(await patiently(() => client.call(sendPlays, inBatch(played)))) }]
            : []),
        ])
          expect(body).toMatchObject({ rejected: [], quarantined: [], accepted: length - body.duplicates });
      }
    },
    bar: async ({ barred }: Items) => {
      for (const { at, from, until, visitor_key } of barred) {
        const body = {
          ...{ visitor_key, reason: 'staff' as const, location_id: at === undefined ? null : worldOf(at).location.id },
          ...{ from: from === undefined ? null : iso(from), until: until === undefined ? null : iso(until) },
        };
        expect((await patiently(() => owner.call(createBlacklistEntry, { body }))).status).toBe(201);
      }
    },
  };
}
type Account = Awaited<ReturnType<typeof newAccount>>;

/** Pieces of at most so many. */
function* cut<T>(items: readonly T[], next: () => number): Generator<T[]> {
  for (let from = 0; from < items.length; ) {
    const to = from + next();
    yield items.slice(from, to);
    from = to;
  }
}

const byTime = <T extends { readonly start: number }>(items: readonly T[]) =>
  items.toSorted((a, b) => a.start - b.start);

/** As things happened, in full batches. */
async function inOrder(account: Account, items: Items) {
  await account.bar(items);
  for (const visits of cut(byTime(items.visits), () => 500)) await account.send({ visits });
  for (const plays of cut(byTime(items.plays), () => 500)) await account.send({ plays });
}

/** The newest first, much of it twice; the blacklist comes between, and the time zone of a shop last. */
async function backwards(account: Account, items: Items) {
  const [, second] = account.worlds as [World, World];
  const tell = (timezone: string, aggregate_version: number) => {
    const location = { ...second.location, timezone };
    return service.deliver(
      locationUpdated,
      { account_id: second.account, aggregate_version, location },
      second.account,
    );
  };
  await tell('Europe/Zurich', 2);
  for (const [n, plays] of [...cut(byTime(items.plays).toReversed(), () => 491)].entries())
    for (let times = 0; times <= n % 2; times++) await account.send({ plays });
  await account.bar(items);
  for (const visits of cut(byTime(items.visits).toReversed(), () => 333)) await account.send({ visits });
  await tell('America/Santiago', 3);
}

/** Shuffled, in pieces of any size, several at once; an entry of the blacklist comes and goes. */
async function shuffled(account: Account, items: Items) {
  const chance = chanceFrom(5);
  const shuffle = <T>(all: readonly T[]) =>
    all
      .map((item) => ({ item, at: chance.share() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ item }) => item);
  const body = { visitor_key: items.visits[0]?.visitor_key ?? '', reason: 'opt_out' } as const;
  const { id } = (await account.owner.call(createBlacklistEntry, { body })).body;
  const lots = [
    ...cut(shuffle(items.visits), () => chance.int(100, 1_000)).map((visits) => ({ visits })),
    ...cut(shuffle(items.plays), () => chance.int(500, 1_200)).map((plays) => ({ plays })),
  ];
  const turns = shuffle(lots).values();
  const work = async () => {
    for (const lot of turns) await account.send(lot);
  };
  await Promise.all([work(), work(), work()]);
  const deleted = await patiently(() => account.owner.call(deleteBlacklistEntry, { params: { id } }));
  expect(deleted.status).toBe(204);
  await account.bar(items);
}

const window = '30m';
const range = { from: '2026-10-20', to: '2026-11-05' };

/** Everything that is asked, without what names the account. */
async function figuresOf({ owner, worlds }: Account) {
  await caughtUp(service, (worlds[0] as World).account);
  const bare = <T extends { readonly as_of: string }>({ as_of: _, ...figures }: T) => figures;
  const ofCampaign = async ({ campaign: id }: World) => {
    const params = { id };
    const series = async (query: Readonly<Record<string, string>>) =>
      (await owner.call(getCampaignTimeseries, { params, query })).body;
    const { campaign_id: _, ...lift } = bare((await owner.call(getCampaignLift, { params, query: { window } })).body);
    return {
      lift,
      performance: bare((await owner.call(getCampaignPerformance, { params, query: { window } })).body),
      days: bare(await series({})),
      hours: bare(await series({ ...range, interval: 'hour' })),
    };
  };
  return {
    summary: bare((await owner.call(summarizeVisits)).body),
    hours: bare((await owner.call(getVisitsTimeseries, { query: { ...range, interval: 'hour' } })).body),
    campaigns: await Promise.all(worlds.map(ofCampaign)),
  };
}

test('5,000 visits and 20,000 plays around changes of three clocks have the figures of a recount, in whatever order they came', async () => {
  const items = itemsOf(11);
  const accounts = [await newAccount(), await newAccount(), await newAccount()] as const;
  await Promise.all([inOrder(accounts[0], items), backwards(accounts[1], items), shuffled(accounts[2], items)]);
  const [first, second, third] = [
    await figuresOf(accounts[0]),
    await figuresOf(accounts[1]),
    await figuresOf(accounts[2]),
  ];
  expect(second).toEqual(first);
  expect(third).toEqual(first);

  const { worlds } = accounts[0];
  const worldOf = (at: number) => worlds[at] as World;
  const counted = items.visits.filter((visit) => !isBarred(items, visit));
  expect(counted.length).toBeLessThan(items.visits.length);
  const visits = counted.map(({ at, stays, ...visit }) => ({
    ...visit,
    location_id: worldOf(at).location.id,
    zones: stays.map((stay) => ({ ...stay, zone_id: worldOf(at).zone.id })),
  }));
  const plays = items.plays.map(({ at, campaign, ...play }) => ({
    ...{ ...play, location_id: worldOf(at).location.id, zone_id: worldOf(at).zone.id },
    ...{ screen_id: worldOf(at).screen.id, campaign_id: worldOf(campaign).campaign },
  }));
  const clocks = new Map(worlds.map(({ location }) => [location.id, location.timezone]));
  const holdouts = new Map([
    [1, 10],
    [2, 10],
  ]);
  const about = { locations: [...clocks.keys()], windowMs: 30 * minute, asOf: now };
  expect(first.summary).toMatchObject({
    visits: visits.length,
    visitors: new Set(visits.map((v) => v.visitor_key)).size,
  });
  expect(first.hours.buckets.map(({ visits: count }) => count)).toEqual(visitsByHour(visits, clocks));

  for (const [at, { campaign }] of worlds.entries()) {
    const told = first.campaigns[at] as (typeof first.campaigns)[number];
    const all = recountOf({ visits, plays, clocks, holdouts }, { ...about, campaign });
    const { conversion, ...figures } = all.performance();
    expect(told.performance).toMatchObject(JSON.parse(JSON.stringify(figures)) as object);
    expect(told.performance.conversion).toMatchObject(conversion);
    expect(conversion.converted_visits).toBeGreaterThan(0);
    expect(told.lift.design).toBe(all.lift().design);
    const days = all.series((date) => date);
    expect(told.days.buckets.filter(({ plays: count }) => count > 0)).toEqual(
      [...days].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([date, bucket]) => ({ date, ...bucket })),
    );
    const hours = recountOf({ visits, plays, clocks, holdouts }, { ...about, ...range, campaign });
    const byHour = hours.series((date, of) => `${date} ${of}`);
    const none = { plays: 0, play_ms: 0, opportunities_to_see: 0, exposed_visits: 0, exposed_visitors: 0 };
    for (const { date, hour: of, ...bucket } of told.hours.buckets)
      expect(bucket).toEqual(byHour.get(`${date} ${of}`) ?? none);
  }
});

function visitsByHour(visits: readonly RawVisit[], clocks: ReadonlyMap<string, string>): number[] {
  const counts = new Map<string, number>();
  for (const { location_id, start } of visits) {
    const time = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(clocks.get(location_id) ?? '');
    const key = `${time.toPlainDate()} ${time.hour}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const buckets: number[] = [];
  for (let date = Temporal.PlainDate.from(range.from); date.toString() <= range.to; date = date.add({ days: 1 }))
    for (let of = 0; of < 24; of++) buckets.push(counts.get(`${date} ${of}`) ?? 0);
  return buckets;
}
