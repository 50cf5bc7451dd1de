import { createHash } from 'node:crypto';
import { type Chance, chanceFrom } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { buildManifest } from '../src/manifests/build-manifest.ts';
import type { Facts, PlayingAd, PlayingCampaign } from '../src/manifests/facts.ts';
import { newAd, newPlaying, oneScreen } from './support-manifests.ts';

/** A second resolver, as slow and simple as can be: it asks at an instant, and reads the clock by `Intl`. */

const quarterMs = 15 * 60_000; // Zones differ from UTC, and shift, by whole quarters.

const clocks = new Map<string, Intl.DateTimeFormat>();
function clock(timeZone: string): Intl.DateTimeFormat {
  const fields = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', hourCycle: 'h23' } as const;
  const known = clocks.get(timeZone) ?? new Intl.DateTimeFormat('en-CA', { timeZone, ...fields });
  clocks.set(timeZone, known);
  return known;
}

function read(instant: number, timeZone: string): { readonly date: string; readonly hour: string } {
  const parts = Object.fromEntries(
    clock(timeZone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, value]),
  );
  return { date: `${parts.year}-${parts.month}-${parts.day}`, hour: String(parts.hour) };
}

const inDates = ({ start_date, end_date }: PlayingCampaign, date: string) =>
  !(start_date !== null && date < start_date) && !(end_date !== null && date > end_date);

function isOut(campaign: PlayingCampaign, location: string, date: string, hour: string): boolean {
  const hash = createHash('sha256').update(`${campaign.id}|${location}|${date}|${hour}`).digest('hex');
  return BigInt(`0x${hash.slice(0, 16)}`) % 100n < BigInt(campaign.holdout_percent);
}

function playsAt(facts: Facts, instant: number): string[] {
  const { location_id, timezone } = facts.place as NonNullable<Facts['place']>;
  const { date, hour } = read(instant, timezone);
  const kept = facts.campaigns.filter((one) => inDates(one, date) && !isOut(one, location_id, date, hour));
  const highest = kept.reduce((most, { priority }) => Math.max(most, priority), -1);
  const of = (ad: PlayingAd) => kept.find(({ id, priority }) => id === ad.campaign_id && priority === highest);
  const key = (ad: PlayingAd) =>
    [of(ad)?.published_at.toISOString(), ad.campaign_id, String(ad.position).padStart(5, '0'), ad.campaign_ad_id].join(
      ' ',
    );
  const playing = facts.ads.filter(of).map((ad) => [key(ad), ad.campaign_ad_id] as const);
  return playing.sort(([one], [other]) => (one < other ? -1 : 1)).map(([, id]) => id);
}

function heldOutAt(facts: Facts, instant: number): string[] {
  const { location_id, timezone } = facts.place as NonNullable<Facts['place']>;
  const { date, hour } = read(instant, timezone);
  return facts.campaigns
    .filter((one) => inDates(one, date) && isOut(one, location_id, date, hour))
    .map(({ id }) => id)
    .sort();
}

/** By looking at every quarter of an hour. */
function covered(now: number, timeZone: string): [from: number, to: number] {
  const dateAt = (instant: number) => read(instant, timeZone).date;
  let from = Math.floor(now / quarterMs) * quarterMs;
  while (dateAt(from - quarterMs) === dateAt(now)) from -= quarterMs;
  let to = Math.ceil((now + 48 * 3_600_000) / quarterMs) * quarterMs;
  while (dateAt(to - 1) === dateAt(to)) to += quarterMs;
  return [from, to];
}

/** Zones, and days around which their clocks shift; some never shift, or shift at midnight or by half an hour. */
const places = [
  ['Europe/Zurich', '2027-03-28'],
  ['Europe/Zurich', '2027-10-31'],
  ['America/Santiago', '2027-04-04'],
  ['America/Santiago', '2027-09-05'],
  ['Australia/Lord_Howe', '2027-04-04'],
  ['Australia/Lord_Howe', '2027-10-03'],
  ['America/New_York', '2027-03-14'],
  ['America/Havana', '2027-11-07'],
  ['Africa/Cairo', '2027-04-30'],
  ['Asia/Beirut', '2027-10-31'],
  ['America/Nuuk', '2027-10-31'],
  ['Asia/Kathmandu', '2027-03-28'],
] as const;

const dayMs = 86_400_000;
const day = (of: string, shift: number) => new Date(Date.parse(of) + shift * dayMs).toISOString().slice(0, 10);

/** Five campaigns on one screen, around a shift of the clock. */
function row(chance: Chance, [timezone, shiftDay]: readonly [string, string]) {
  const bound = (least: number, most: number) => (chance.share() < 0.2 ? null : day(shiftDay, chance.int(least, most)));
  const campaigns = Array.from({ length: 5 }, () =>
    newPlaying({
      priority: chance.int(0, 2),
      start_date: bound(-3, 1),
      end_date: bound(0, 4),
      holdout_percent: chance.pick([0, 0, 10, 50, 100]),
      published_at: new Date(Date.parse('2027-01-01') + chance.int(0, 1)),
    }),
  );
  const ads = campaigns.flatMap((campaign) => [
    newAd(campaign, { position: chance.int(0, 1) }),
    newAd(campaign, { position: chance.int(0, 1) }),
  ]);
  const now = Date.parse(shiftDay) + chance.int(-36, 30) * 3_600_000 + chance.pick([0, 1, 59_999, 1_234_567]);
  return { facts: oneScreen(timezone, campaigns, ads), now };
}

/** What a manifest says about an instant. */
function said({ content, covers_from, covers_to }: ReturnType<typeof buildManifest>, instant: number) {
  const within = (start: string | null, end: string | null) =>
    (start === null ? covers_from : Date.parse(start)) <= instant &&
    instant < (end === null ? covers_to : Date.parse(end));
  const slots = content.screens.flatMap((screen) => screen.slots).filter((slot) => within(slot.start_at, slot.end_at));
  const holdouts = content.holdouts.filter((holdout) => within(holdout.start_at, holdout.end_at));
  return {
    slots: slots.length,
    plays: slots[0]?.campaign_ad_ids ?? [],
    heldOut: holdouts.map(({ campaign_id }) => campaign_id).sort(),
  };
}

const chance = chanceFrom(2027);
const table = Array.from({ length: 40 }, (_, n) => {
  const place = places[n % places.length] as (typeof places)[number];
  return [n, place[0], place[1], row(chance, place)] as const;
});

test.each(table)(
  'five campaigns in dates and holdouts, no. %d: in %s around %s the manifest says at every instant what plays then',
  (_, timezone, __, { facts, now }) => {
    const manifest = buildManifest(facts, now);
    const { content, covers_from, covers_to } = manifest;
    expect([covers_from, covers_to]).toEqual(covered(now, timezone));
    for (let instant = covers_from; instant < covers_to; instant += quarterMs)
      for (const sample of [instant, instant + quarterMs - 1]) {
        const plays = playsAt(facts, sample);
        const expected = { slots: plays.length > 0 ? 1 : 0, plays, heldOut: heldOutAt(facts, sample) };
        if (!isSame(said(manifest, sample), expected))
          expect({ at: new Date(sample), ...said(manifest, sample) }).toEqual({ at: new Date(sample), ...expected });
      }
    const slots = content.screens.flatMap((screen) => screen.slots);
    for (const [index, slot] of slots.entries()) {
      const [next, end] = [slots[index + 1], slot.end_at === null ? covers_to : Date.parse(slot.end_at)];
      if (next?.start_at === slot.end_at) expect(next?.campaign_ad_ids).not.toEqual(slot.campaign_ad_ids);
      if (end === covers_to) expect(slot.end_at === null).toBe(isSame(playsAt(facts, covers_to), slot.campaign_ad_ids));
    }
    const inSlots = new Set(slots.flatMap(({ campaign_ad_ids }) => campaign_ad_ids));
    expect(content.items.map(({ campaign_ad_id }) => campaign_ad_id)).toEqual([...inSlots].sort());
    for (const { campaign_id, not_before, not_after } of content.items) {
      const campaign = facts.campaigns.find(({ id }) => id === campaign_id);
      if (not_before) expect(edge(not_before, timezone)).toEqual([false, campaign?.start_date]);
      if (not_after) expect(edge(not_after, timezone, -1)).toEqual([false, campaign?.end_date]);
    }
  },
);

/** Whether the instants before and at this one are on the same day, and the day at the instant, or before it. */
function edge(instant: string, timezone: string, shift = 0) {
  const [before, at] = [read(Date.parse(instant) - 1, timezone).date, read(Date.parse(instant), timezone).date];
  return [before === at, shift < 0 ? before : at];
}

const isSame = (one: object, other: object) => JSON.stringify(one) === JSON.stringify(other);
