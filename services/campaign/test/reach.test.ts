import * as contracts from '@attribution/contracts';
import { type Chance, chanceFrom, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { startCampaign } from './support.ts';
import { newLocation, newScreen } from './support-estate.ts';
import { expectedPairs, livePairs, overlaps } from './support-reach.ts';
import { newAd, newStudio } from './support-studio.ts';

let service: TestService;
beforeAll(async () => {
  service = await startCampaign();
});
afterAll(() => service.stop());

type Target = z.output<typeof contracts.Target>;

const tags = ['bar', 'dark', 'entrance', 'window'];
const some = <T>(chance: Chance, from: readonly T[], share: number): T[] => from.filter(() => chance.share() < share);
const shuffled = <T>(chance: Chance, from: readonly T[]): T[] =>
  from
    .map((value) => ({ value, at: chance.share() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ value }) => value);

/** An estate that changes at random, as it is and as the service has been told. */
async function newEstate(chance: Chance) {
  const studio = await newStudio(service);
  const groups = [studio.group, await studio.tenant.group(), await studio.tenant.group()];
  const locations = Array.from({ length: 5 }, () => newLocation({ group_id: chance.pick(groups) }));
  const screens = Array.from({ length: 16 }, () =>
    newScreen(chance.pick(locations), { tags: some(chance, tags, 0.5) }),
  );
  for (const location of locations) await studio.announce.location(location);
  for (const screen of screens) await studio.announce.screen(screen);

  /** Moves, tags, makes or deletes a screen, or moves a location to another group. */
  async function change() {
    const at = chance.int(0, screens.length - 1);
    const screen = screens[at] ?? newScreen(chance.pick(locations));
    const kind = chance.int(0, 4);
    if (kind === 0) {
      const location = { ...chance.pick(locations), group_id: chance.pick(groups) };
      locations.splice(
        locations.findIndex(({ id }) => id === location.id),
        1,
        location,
      );
      await studio.announce.location(location);
    } else if (kind === 1 && screens.length > 4) {
      screens.splice(at, 1);
      await studio.announce.screenGone(screen.id);
    } else {
      const location_id = chance.pick(locations).id;
      const changed = kind === 2 ? newScreen({ id: location_id }) : { ...screen, location_id };
      const tagged = { ...changed, tags: some(chance, tags, 0.5) };
      if (kind === 2) screens.push(tagged);
      else screens.splice(at, 1, tagged);
      await studio.announce.screen(tagged);
    }
  }
  const selection = (share: number) => ({
    group_ids: some(chance, groups, share),
    location_ids: some(
      chance,
      locations.map(({ id }) => id),
      share,
    ),
    tags: some(chance, tags, share),
  });
  return {
    ...{ studio, locations, screens, change },
    target: (): Target => ({ include: selection(0.4), exclude: selection(0.1), holdout_percent: 0 }),
  };
}

test('whatever happens to the target, the ads and the estate, exactly what is reached is live, and intervals never overlap', async () => {
  const chance = chanceFrom(20_261_123);
  const { studio, locations, screens, change, target } = await newEstate(chance);
  const { owner, tenant, account } = studio;
  const params = { id: (await tenant.campaign()).id };
  for (const screen_tag of ['entrance', 'window', 'entrance']) {
    const body = { ad_id: (await newAd(service, account)).ad, screen_tag };
    await owner.call(contracts.addCampaignAd, { params, body });
  }
  let live: { target: Target; ads: { id: string; screen_tag: string }[] } | undefined;
  let refused = 0;
  for (let round = 0; round < 6; round++) {
    for (let n = 0; n < 4; n++) await change();
    const next = target();
    await owner.call(contracts.reviseCampaign, { params });
    await owner.call(contracts.updateCampaign, { params, body: { name: `Round ${round}` } });
    await owner.call(contracts.setCampaignTarget, { params, body: next });
    const { ads } = (await owner.call(contracts.getCampaign, { params })).body;
    const moved = { ...params, campaign_ad_id: ads[chance.int(0, 1)]?.id ?? '' };
    const body = { screen_tag: chance.pick(tags) };
    await owner.call(contracts.updateCampaignAd, { params: moved, body });
    const published = await owner.call(contracts.publishCampaign, { params });
    if (published.status === 200) live = { target: next, ads: published.body.ads };
    else expect([published.problem?.detail, ++refused]).toEqual([expect.stringContaining('no_placement'), refused]);
    await change();
    await studio.settled();
    const expected = live ? expectedPairs(screens, locations, live.target, live.ads) : [];
    expect([round, await livePairs(service, params.id)]).toEqual([round, expected]);
    const { body: campaign } = await owner.call(contracts.getCampaign, { params });
    expect(campaign.screen_count).toBe(new Set(expected.map((pair) => pair.split(' ')[1])).size);
  }
  expect(refused).toBeLessThan(6);
  expect(await overlaps(service)).toBe(0);
});

test('the reach is alike in any order of lists, ads and screens, and a slower rule finds the same', async () => {
  const chance = chanceFrom(7);
  const { studio, locations, screens, target } = await newEstate(chance);
  const { owner, tenant, account } = studio;
  const params = { id: (await tenant.campaign()).id };
  for (const screen_tag of tags) {
    const body = { ad_id: (await newAd(service, account)).ad, screen_tag };
    await owner.call(contracts.addCampaignAd, { params, body });
  }
  const figures = async (body: Target) => {
    await owner.call(contracts.setCampaignTarget, { params, body });
    const { body: detail } = await owner.call(contracts.getCampaign, { params });
    return { ads: detail.ads, estimated: detail.estimated_locations, report: detail.latest_validation };
  };
  for (let n = 0; n < 10; n++) {
    const { include, exclude, holdout_percent } = target();
    const shuffle = ({ group_ids, location_ids, tags: listed }: Target['include']) => ({
      group_ids: shuffled(chance, group_ids),
      location_ids: shuffled(chance, location_ids),
      tags: shuffled(chance, listed),
    });
    const one = await figures({ include, exclude, holdout_percent });
    const other = await figures({ include: shuffle(include), exclude: shuffle(exclude), holdout_percent });
    expect(other.report).toEqual(one.report);
    const pairs = expectedPairs(screens, locations, { include, exclude, holdout_percent }, one.ads);
    const of = (id: string) => pairs.filter((pair) => pair.startsWith(id)).length;
    expect(one.report.ads.map((ad) => [ad.campaign_ad_id, ad.screen_count])).toEqual(
      one.ads.map(({ id }) => [id, of(id)]),
    );
    expect(one.report.matched_screens).toBe(new Set(pairs.map((pair) => pair.split(' ')[1])).size);
    const [any, nowhere] = [include.group_ids.length + include.location_ids.length, include.tags.length === 0];
    const listed = locations.filter(
      ({ id, group_id }) => any === 0 || include.group_ids.includes(group_id) || include.location_ids.includes(id),
    );
    const tagged = listed.filter(
      ({ id }) =>
        nowhere ||
        screens.some((screen) => screen.location_id === id && screen.tags.some((tag) => include.tags.includes(tag))),
    );
    expect(one.estimated).toBe(any === 0 && nowhere ? 0 : tagged.length);
  }
});

test('a change of the estate writes the rows of what it touches alone', async () => {
  const studio = await newStudio(service);
  const { location, screens, params, owner, account } = await studio.planned(30);
  const other = await studio.location();
  const elsewhere = await studio.screen(other);
  const there = { include: { location_ids: [location.id] } };
  const campaigns = [params, (await studio.campaign({}, there)).params, (await studio.campaign({}, there)).params];
  const apart = (await studio.campaign({}, { include: { location_ids: [other.id] } })).params;
  for (const each of [...campaigns, apart])
    expect((await owner.call(contracts.publishCampaign, { params: each })).status).toBe(200);
  await studio.settled();

  /** How many rows of each table the work has written. */
  async function writtenBy(work: () => Promise<unknown>) {
    const { rows } = await service.db.query<{ now: string }>('SELECT pg_current_xact_id()::text AS now');
    await work();
    await studio.settled();
    const tables = ['placements', 'campaigns', 'campaign_versions', 'live_ads'];
    const counts = tables.map(async (table) => {
      const written = `SELECT FROM ${table} WHERE account_id = $1 AND xmin::text::bigint > $2::bigint`;
      return (await service.db.query(written, [account, rows[0]?.now])).rowCount;
    });
    return Promise.all(counts);
  }
  const screen = screens[0] as (typeof screens)[number];
  expect(await writtenBy(() => studio.announce.screen({ ...screen, tags: ['entrance', 'bar'] }))).toEqual([0, 0, 0, 0]);
  expect(await writtenBy(() => studio.announce.screen({ ...screen, tags: ['bar'] }))).toEqual([3, 3, 0, 0]);
  expect(await writtenBy(() => studio.announce.screenGone(elsewhere.id))).toEqual([1, 1, 0, 0]);
  expect(await writtenBy(() => studio.screen(location, { tags: ['entrance'] }))).toEqual([3, 3, 0, 0]);
});
