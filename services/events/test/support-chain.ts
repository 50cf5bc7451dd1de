import * as contracts from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';
import { chanceFrom, type RawPlay, type RawVisit, type TestService } from '@attribution/testing';
import { newVisitor, newWorld } from './support.ts';

const minute = 60_000;
const hour = 60 * minute;

/** Locations whose clocks change, and instants of such changes. */
const shops = [
  { timezone: 'Europe/Zurich', changes: ['2026-03-29T01:00:00Z', '2026-10-25T01:00:00Z'] },
  { timezone: 'Australia/Lord_Howe', changes: ['2026-04-04T15:00:00Z', '2026-10-03T15:30:00Z'] },
];

/** An account with two locations, each in a group of its own, with two zones and three screens, and two campaigns. */
export async function newChain(service: TestService) {
  const worlds = shops.map(({ timezone }) => newWorld(timezone));
  const [first] = worlds as [ReturnType<typeof newWorld>];
  const { account } = first;
  const state = { account_id: account, aggregate_version: 1 };
  const places: { location: string; group: string; timezone: string; zones: string[]; screens: Screen[] }[] = [];
  for (const { location, zone, screen } of worlds) {
    await service.deliver(contracts.locationCreated, { ...state, location }, account);
    const zones = [zone, { ...zone, id: newId('zone') }];
    for (const one of zones) await service.deliver(contracts.zoneCreated, { ...state, zone: one }, account);
    const screens = [zones[0], zones[1], zones[1]].map((one) => ({
      ...screen,
      id: newId('screen'),
      zone_id: one?.id ?? '',
    }));
    for (const one of screens) await service.deliver(contracts.screenCreated, { ...state, screen: one }, account);
    places.push({
      ...{ location: location.id, group: location.group_id, timezone: location.timezone },
      zones: zones.map(({ id }) => id),
      screens: screens.map(({ id, zone_id }) => ({ id, zone: zone_id })),
    });
  }
  const holdouts = new Map([
    [1, 10],
    [2, 25],
  ]);
  const campaigns = [newId('campaign'), newId('campaign')] as const;
  for (const campaign of campaigns)
    for (const [version, holdout_percent] of holdouts)
      await service.deliver(
        contracts.campaignPublished,
        {
          ...{ campaign_id: campaign, account_id: account, version, published_at: '2026-01-01T00:00:00Z' },
          ...{ holdout_percent, content_hash: 'x', campaign_ad_ids: [newId('campaign_ad')] },
        },
        account,
      );
  return { account, places, campaigns, holdouts, as: first.as };
}
export type Chain = Awaited<ReturnType<typeof newChain>>;
interface Screen {
  readonly id: string;
  readonly zone: string;
}

/** The account with its items, and the clocks of its locations. */
const clocksOf = ({ places }: Chain) => new Map(places.map(({ location, timezone }) => [location, timezone]));

export const itemsOf = (chain: Chain, visits: readonly RawVisit[], plays: readonly RawPlay[]) => ({
  ...{ visits, plays, clocks: clocksOf(chain), holdouts: chain.holdouts },
});

/**
 * Visits of a few people, and plays, around changes of the clock and within the last days. Times are whole minutes, so that
 * many coincide.
 */
export function someItems(chain: Chain, seed: number, now: number) {
  const chance = chanceFrom(seed);
  const people = Array.from({ length: 30 }, newVisitor);
  const recently = Math.floor(now / hour) * hour - 40 * hour;
  const centres = shops.map(({ changes }) => [...changes.map((change) => Date.parse(change)), recently]);
  const someTime = (place: number) => chance.pick(centres[place] ?? []) + chance.int(-26 * 60, 26 * 60) * minute;

  const visits = Array.from({ length: 170 }, (): RawVisit => {
    const at = chance.int(0, chain.places.length - 1);
    const [{ location, zones }, start] = [chain.places[at] as Chain['places'][number], someTime(at)];
    const end = start + chance.int(2, 50) * minute;
    const stays = zones.flatMap((zone_id) => {
      const times = Array.from({ length: 4 }, () => start + chance.int(0, (end - start) / minute) * minute);
      const [a = 0, b = 0, c = 0, d = 0] = times.toSorted((x, y) => x - y);
      const both = [
        { zone_id, start: a, end: b },
        { zone_id, start: c, end: d },
      ];
      return both.filter((stay) => stay.start < stay.end);
    });
    return { event_id: newUuid(), visitor_key: chance.pick(people), location_id: location, start, end, zones: stays };
  });
  const plays = Array.from({ length: 400 }, (): RawPlay => {
    const at = chance.int(0, chain.places.length - 1);
    const [{ location, screens }, start] = [chain.places[at] as Chain['places'][number], someTime(at)];
    const screen = chance.pick(screens);
    return {
      ...{ location_id: location, zone_id: chance.int(1, 20) === 1 ? null : screen.zone, screen_id: screen.id },
      ...{ campaign_id: chance.pick(chain.campaigns), version: chance.int(1, 2) },
      ...{ holdout: chance.int(1, 4) === 1, completed: chance.int(1, 5) > 1 },
      ...{ start, end: start + chance.int(1, 12) * minute },
    };
  });
  return { visits, plays };
}
