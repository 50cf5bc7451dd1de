import * as contracts from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';
import { type Items, type RawPlay, type RawVisit, recountOf, type TestService } from '@attribution/testing';
import { newVisitor, newWorld } from './support.ts';
import { itemsOf, newChain } from './support-chain.ts';
import type { Owners } from './support-owners.ts';
import { keep } from './support-stored.ts';

/**
 * Where items are: in one of two groups; in a location that was in B when they came and is in A now; in one of A that was
 * deleted; in another account.
 */
export const places = ['A', 'B', 'moved', 'deleted', 'elsewhere'] as const;
export type Place = (typeof places)[number];
export const groups = ['A', 'B', 'elsewhere'] as const;
export type Group = (typeof groups)[number];
/** The groups that the places are in now, or were in at last. */
export const groupOf: Readonly<Record<Place, Group>> = {
  A: 'A',
  B: 'B',
  moved: 'A',
  deleted: 'A',
  elsewhere: 'elsewhere',
};
export const ownPlaces = ['A', 'B', 'moved', 'deleted'] as const;

const minute = 60_000;
/** The range of every question. Local days are those of the universal time. */
export const from = '2026-02-01';
const timezone = 'Africa/Abidjan';
export const at = (text: string) => Date.parse(text);
/** When somebody was where who goes everywhere: who sees A alone takes February for the first time. */
const travels: Readonly<Record<Place, number>> = {
  A: at('2026-02-10T10:00:00Z'),
  B: at('2026-01-15T10:00:00Z'),
  moved: at('2026-03-10T10:00:00Z'),
  deleted: at('2026-01-10T10:00:00Z'),
  elsewhere: at('2026-01-05T10:00:00Z'),
};

/** Items of a place, of which each has twice as many as the one before, so that any sum tells whose it is. */
function itemsIn(place: Place, { location, zones, screens }: Located, campaign_id: string, traveller: string) {
  const [visits, plays]: [RawVisit[], RawPlay[]] = [[], []];
  const [location_id, zone_id = '', screen_id = ''] = [location.id, zones[0], screens[0]];
  const come = (visitor_key: string, start: number) => {
    const times = { start, end: start + 5 * minute };
    visits.push({ event_id: newUuid(), visitor_key, location_id, ...times, zones: [{ zone_id, ...times }] });
  };
  for (let n = 0; n < 2 ** places.indexOf(place); n++) {
    const start = at('2026-02-02T08:00:00Z') + n * 60 * minute;
    const visitor = newVisitor();
    come(visitor, start);
    come(visitor, start + 24 * 60 * minute);
    plays.push({
      ...{ location_id, zone_id, screen_id, campaign_id, version: 1, holdout: false, completed: n % 2 === 0 },
      ...{ start: start + minute, end: start + 2 * minute },
    });
  }
  come(traveller, travels[place]);
  return { visits, plays };
}

async function newPlace(service: TestService, account: string, group_id: string) {
  const { location, zone, screen } = newWorld(timezone, account);
  const state = { account_id: account, aggregate_version: 1 };
  await service.deliver(contracts.locationCreated, { ...state, location: { ...location, group_id } }, account);
  await service.deliver(contracts.zoneCreated, { ...state, zone }, account);
  await service.deliver(contracts.screenCreated, { ...state, screen }, account);
  return { location, zones: [zone.id], screens: [screen.id] };
}
type Located = Awaited<ReturnType<typeof newPlace>>;

export async function newPlaces(service: TestService, owners: Owners) {
  const [chain, other] = [await newChain(service), await newChain(service)];
  const groupIds = { A: newId('group'), B: newId('group'), elsewhere: newId('group') };
  const located = {} as Record<Place, Located>;
  for (const place of places) {
    const group = place === 'moved' ? 'B' : groupOf[place];
    located[place] = await newPlace(service, place === 'elsewhere' ? other.account : chain.account, groupIds[group]);
  }
  const [campaign, traveller] = [chain.campaigns[0], newVisitor()];
  const items = Object.fromEntries(
    places.map((place) => [place, itemsIn(place, located[place], campaign, traveller)]),
  ) as Record<Place, ReturnType<typeof itemsIn>>;
  const all = ownPlaces.map((place) => items[place]);
  await keep(service, chain.account, {
    visits: all.flatMap(({ visits }) => visits),
    plays: all.flatMap(({ plays }) => plays),
  });
  await keep(service, other.account, items.elsewhere);

  const state = { account_id: chain.account, aggregate_version: 2 };
  const location = { ...located.moved.location, group_id: groupIds.A };
  await service.deliver(contracts.locationUpdated, { ...state, location }, chain.account);
  const location_id = located.deleted.location.id;
  await service.deliver(contracts.locationDeleted, { ...state, location_id }, chain.account);
  owners.sees = ({ account_id, group_ids, ids }) =>
    account_id === chain.account && (group_ids?.includes(groupIds.A) ?? true)
      ? ids.filter((id) => id === campaign)
      : [];
  const quarantined = { own: await keepApart(service, chain.account), other: await keepApart(service, other.account) };
  return { chain, other, located, items, campaign, groupIds, quarantined };
}
export type Places = Awaited<ReturnType<typeof newPlaces>>;

/** Keeps a visit in quarantine, and returns its id. */
async function keepApart(service: TestService, account: string): Promise<string> {
  const { rows } = await service.db.query<{ event_id: string }>(
    `INSERT INTO visits (account_id, event_id, device_id, location_id, visitor_key, zones, received_at, clock_offset_ms,
       quarantined, item)
     VALUES ($1, uuidv7(), $2, $3, 'x', '[]', $4, 0, 'too_old', '{}') RETURNING event_id`,
    [account, newId('device'), newId('location'), service.clock.now()],
  );
  return rows[0]?.event_id ?? '';
}

/** The items of some places, recounted as simply as can be. */
export function recountIn({ chain, located, items: all, campaign }: Places, seen: readonly Place[], asOf: number) {
  const visits = seen.flatMap((place) => all[place].visits);
  const plays = seen.flatMap((place) => all[place].plays);
  const dayOf = (instant: number) => new Date(instant).toISOString().slice(0, 10);
  const counted = visits.filter(({ start }) => dayOf(start) >= from);
  const visitors = Map.groupBy(counted, ({ visitor_key }) => visitor_key);
  const firstOf = (visitor: string) => {
    const own = visits.filter(({ visitor_key }) => visitor_key === visitor);
    return dayOf(Math.min(...own.map(({ start }) => start)));
  };
  const fresh = [...visitors.keys()].filter((visitor) => firstOf(visitor) >= from);
  const months = Map.groupBy(fresh, (visitor) => `${firstOf(visitor).slice(0, 7)}-01`);
  const locations = seen.map((place) => located[place].location.id);
  const items: Items = itemsOf(chain, visits, plays);
  const ofCampaign = recountOf(
    { ...items, clocks: new Map(locations.map((location) => [location, timezone])) },
    { campaign, locations, from, windowMs: 7 * 1440 * minute, asOf },
  );
  const clusters = ofCampaign.lift();
  const people = (all: readonly { readonly visitors: number }[]) => all.reduce((sum, one) => sum + one.visitors, 0);
  return {
    summary: { visits: counted.length, visitors: visitors.size, new_visitors: fresh.length },
    timeseries: counts(counted.map(({ start }) => dayOf(start))),
    dwell: {
      visits: counted.length,
      zones: counts(counted.flatMap(({ zones }) => zones.map(({ zone_id }) => zone_id))),
    },
    plays: plays.map(({ location_id, start }) => `${location_id} ${start}`).toSorted(),
    loyalty: {
      visitors: visitors.size,
      new_visitors: fresh.length,
      often: [...visitors.values()].map(countOf).toSorted(),
    },
    cohorts: [...months].map(([date, { length }]) => [date, length]).toSorted(),
    performance: ofCampaign.performance(),
    series: [...ofCampaign.series((date) => date)].map(([date, bucket]) => ({ date, ...bucket })).toSorted(byDate),
    lift: { design: clusters.design, exposed: people(clusters.exposed), control: people(clusters.control) },
  };
}
export type Figures = ReturnType<typeof recountIn>;
const countOf = ({ length }: readonly unknown[]) => length;
const byDate = (a: { readonly date: string }, b: { readonly date: string }) => (a.date < b.date ? -1 : 1);
const counts = (keys: readonly string[]) =>
  [...Map.groupBy(keys, (one) => one)].map(([name, all]) => [name, all.length] as const).toSorted(byName);
const byName = ([a]: readonly [string, number], [b]: readonly [string, number]) => (a < b ? -1 : 1);
