import { newId } from '@attribution/ids';
import { chanceFrom } from '@attribution/testing';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { buildManifest } from '../src/manifests/build-manifest.ts';
import type { Facts } from '../src/manifests/facts.ts';
import { manifestHash } from '../src/manifests/manifest-hash.ts';
import { newAd, newPlaying, oneScreen, shuffled } from './support-manifests.ts';

const now = new Date('2027-06-01T10:00:00Z').getTime();
const dayMs = 86_400_000;
const slotsOf = (facts: Facts, at = now) => buildManifest(facts, at).content.screens[0]?.slots;
const idOf = ({ campaign_ad_id }: { readonly campaign_ad_id: string }) => campaign_ad_id;

describe('what plays', () => {
  test('are the ads of the highest priority, by publication, campaign, position and ad', () => {
    const early = newPlaying({ priority: 5, published_at: new Date('2026-12-01T00:00:00Z') });
    const [one, two] = [newPlaying({ priority: 5 }), newPlaying({ priority: 5 })];
    const low = newPlaying({ priority: 4 });
    const ads = [
      newAd(two),
      newAd(one, { position: 2 }),
      newAd(one, { position: 1 }),
      newAd(one, { position: 1 }),
      newAd(early, { position: 9 }),
      newAd(low),
    ] as const;
    const facts = oneScreen('UTC', [one, low, two, early], ads);
    const order = [ads[4], ads[2], ads[3], ads[1], ads[0]].map(idOf);
    expect(slotsOf(facts)).toEqual([{ start_at: null, end_at: null, campaign_ad_ids: order }]);
    const { items, files } = buildManifest(facts, now).content;
    expect(items.map(idOf)).toEqual(order.toSorted());
    expect(files).toEqual([{ sha256: 'ab'.repeat(32), size_bytes: 1000, mime: 'image/png' }]);
  });

  test('changes with the dates, and a slot is open only where the covered time cuts it', () => {
    const low = newPlaying({ end_date: '2027-06-03' });
    const high = newPlaying({ priority: 1, start_date: '2027-06-02', end_date: '2027-06-02' });
    const ads = [newAd(low), newAd(high)] as const;
    const facts = oneScreen('Europe/Zurich', [low, high], ads);
    const noon = (day: string) => new Date(`${day}T12:00:00Z`).getTime();
    const [second, third, fourth] = [
      '2027-06-01T22:00:00.000Z',
      '2027-06-02T22:00:00.000Z',
      '2027-06-03T22:00:00.000Z',
    ];
    expect(slotsOf(facts, noon('2027-06-01'))).toEqual([
      { start_at: null, end_at: second, campaign_ad_ids: [idOf(ads[0])] },
      { start_at: second, end_at: third, campaign_ad_ids: [idOf(ads[1])] },
      { start_at: third, end_at: fourth, campaign_ad_ids: [idOf(ads[0])] },
    ]);
    // What changes at the end of the covered time has an end, and what goes on has none.
    expect(slotsOf(facts, noon('2027-05-30'))).toMatchObject([{ start_at: null, end_at: second }]);
    expect(slotsOf(facts, noon('2027-05-29'))).toMatchObject([{ start_at: null, end_at: null }]);
    expect(slotsOf(facts, noon('2027-06-04'))).toEqual([]);
    expect(
      buildManifest(facts, noon('2027-06-01')).content.items.find((item) => idOf(item) === idOf(ads[1])),
    ).toMatchObject({
      not_before: second,
      not_after: third,
    });
  });

  test('is nothing of a campaign that is held out, and the holdout is told whatever its priority', () => {
    const [low, high] = [newPlaying({ holdout_percent: 100 }), newPlaying({ priority: 1 })];
    const facts = oneScreen('UTC', [low, high], [newAd(low), newAd(high)]);
    const built = buildManifest(facts, now);
    expect(built.content.screens[0]?.slots.map(({ campaign_ad_ids }) => campaign_ad_ids)).toEqual([
      [idOf(facts.ads[1] as never)],
    ]);
    expect(built.content.holdouts).toEqual([
      { campaign_id: low.id, version: 1, start_at: '2027-06-01T00:00:00.000Z', end_at: '2027-06-04T00:00:00.000Z' },
    ]);
    expect(built.content.items).toHaveLength(1);
  });

  test('is nothing without a live installation: days of UTC, empty arrays', () => {
    const built = buildManifest({ device_id: newId('device'), place: null, screens: [], campaigns: [], ads: [] }, now);
    expect(built.content).toMatchObject({
      location_id: null,
      timezone: null,
      files: [],
      items: [],
      screens: [],
      holdouts: [],
    });
    expect([built.covers_from, built.covers_to].map((at) => new Date(at).toISOString())).toEqual([
      ...['2027-06-01T00:00:00.000Z', '2027-06-04T00:00:00.000Z'],
    ]);
    expect(built.changes_at).toBeNull();
  });
});

/** A device with some screens, ads and campaigns, by a seed. */
function someFacts(seed: number): Facts {
  const chance = chanceFrom(seed);
  const several = <T>(least: number, most: number, make: () => T) =>
    Array.from({ length: chance.int(least, most) }, make);
  const day = () => chance.pick([null, '2027-05-30', '2027-06-01', '2027-06-02', '2027-06-03']);
  const campaigns = several(1, 5, () =>
    newPlaying({
      priority: chance.int(0, 2),
      start_date: day(),
      end_date: day(),
      holdout_percent: chance.pick([0, 0, 30, 100]),
      published_at: new Date(1_000_000 * chance.int(1, 3)),
    }),
  );
  const ads = campaigns.flatMap((campaign) =>
    several(1, 4, () => newAd(campaign, { position: chance.int(0, 2), sha256: `${chance.int(0, 9)}`.repeat(64) })),
  );
  const screens = several(1, 4, () => ({
    ...{ screen_id: newId('screen'), output: 'HDMI-1', width_px: 1, height_px: 2 },
    campaign_ad_ids: ads.filter(() => chance.share() < 0.6).map(idOf),
  }));
  return { ...oneScreen(chance.pick(['Europe/Zurich', 'UTC', 'Asia/Kathmandu']), campaigns, ads), screens };
}

describe('the hash', () => {
  test('is the same for the same facts in any order', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), (seed, order) => {
        const facts = someFacts(seed);
        const chance = chanceFrom(order);
        const other: Facts = {
          ...facts,
          campaigns: shuffled(chance, facts.campaigns),
          ads: shuffled(chance, facts.ads),
          screens: shuffled(chance, facts.screens).map((screen) => ({
            ...screen,
            campaign_ad_ids: shuffled(chance, screen.campaign_ad_ids),
          })),
        };
        expect(manifestHash(buildManifest(other, now).content)).toBe(manifestHash(buildManifest(facts, now).content));
      }),
      { numRuns: 25 },
    );
  });

  test('changes with nothing but the local day, and with that only where something begins, ends or is held out', () => {
    const hashAt = (facts: Facts, at: number) => manifestHash(buildManifest(facts, at).content);
    for (const seed of [1, 2, 3, 4, 5]) {
      const facts = someFacts(seed);
      const { covers_from, changes_at } = buildManifest(facts, now);
      const instants = [covers_from + 1, now, now + 3_600_000, (changes_at ?? now) - 1];
      expect(new Set(instants.map((at) => hashAt(facts, at))).size).toBe(1);
    }
    const steady = newPlaying({ start_date: '2027-01-01' });
    const facts = oneScreen('Europe/Zurich', [steady], [newAd(steady)]);
    const days = Array.from({ length: 200 }, (_, day) => hashAt(facts, now + day * dayMs));
    expect(new Set(days).size).toBe(1);
  });

  test('is over the content as RFC 8785 JSON', () => {
    const content = buildManifest(
      { device_id: 'dev_1', place: null, screens: [], campaigns: [], ads: [] },
      now,
    ).content;
    // sha256 of {"device_id":"dev_1","files":[],"holdouts":[],"items":[],"location_id":null,"schema_version":1,"screens":[],"timezone":null}
    expect(manifestHash(content)).toBe('8760c2a2371afec06737b9d93553883fde2f051d72d03a6309bd19871b13712d');
  });
});
