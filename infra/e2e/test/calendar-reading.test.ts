import { createPlayer, type Manifest, type Play, type Slot } from '@attribution/simulator';
import { expect, test } from '@jest/globals';
import { createComparison, readScreen, tickMs } from '../faults/calendar/reading.ts';
import { bucketOf, expectedAt, type KnownScreen, type LiveCampaign, wallClock } from '../faults/calendar/rules.ts';
import { changes, spansOf } from '../faults/calendar/spans.ts';

const zero = Date.parse('2027-03-28T00:00:00Z');
const hourMs = 3_600_000;
const at = (hour: number) => new Date(zero + hour * hourMs).toISOString();
const slot = (from: number | null, to: number | null, ...campaign_ad_ids: string[]): Slot => ({
  start_at: from === null ? null : at(from),
  end_at: to === null ? null : at(to),
  campaign_ad_ids,
});

const item = (name: string, ticks: number, more: object = {}) => ({
  ...{ campaign_ad_id: name, campaign_id: 'cmp', version: 1, sha256: name, duration_ms: ticks * tickMs },
  ...{ not_before: null, not_after: null, ...more },
});

const manifestOf = (slots: readonly Slot[], items = [item('a', 3), item('b', 7), item('c', 20)]): Manifest => ({
  ...{ schema_version: 1, device_id: 'dev', version: 1, covers_from: at(0), covers_to: at(72), files: [] },
  items,
  screens: [{ screen_id: 'scr', output: 'HDMI-1', slots }],
});

/** Manifests, each in force until an hour. */
type Given = readonly (readonly [hour: number, manifest: Manifest])[];

const played = (given: Given): Play[] => {
  const player = createPlayer('scr', zero);
  return given.flatMap(([hour, manifest]) => player.playUntil(zero + hour * hourMs + tickMs, manifest, () => true));
};
const read = (given: Given): Play[] => {
  const reading = readScreen('scr', zero);
  return given.flatMap(([hour, manifest]) => reading.until(zero + hour * hourMs + tickMs, manifest));
};
const deviations = (shown: readonly Play[], second: readonly Play[]): number => {
  const comparison = createComparison();
  return comparison.compare({ shown, read: second }).differ.length + comparison.rest;
};

const days = manifestOf([slot(null, 2, 'a', 'b'), slot(2, 3, 'c'), slot(5, 30, 'b', 'c', 'a'), slot(30, null, 'a')]);

test('the second reading of a manifest is what the player shows, also when another manifest comes', () => {
  const ended = item('b', 7, { not_after: at(20) });
  const given: Given = [
    [8, days],
    [26, manifestOf([slot(null, null, 'b', 'c', 'a')], [item('a', 3), ended, item('c', 20, { version: 2 })])],
    [60, days],
  ];
  expect(read(given).length).toBeGreaterThan(500);
  expect(deviations(played(given), read(given))).toBe(0);
});

test('a screen that plays by a clock an hour off, skips an ad, repeats one, or shows one too long, differs from the second reading', () => {
  const shown = played([[40, days]]);
  const second = read([[40, days]]);
  const late = manifestOf([slot(null, 3, 'a', 'b'), slot(3, 4, 'c'), slot(6, 31, 'b', 'c', 'a'), slot(31, null, 'a')]);
  const wrong: Record<string, readonly Play[]> = {
    'an hour off': played([[40, late]]),
    skipped: shown.toSpliced(50, 1),
    repeated: shown.toSpliced(50, 0, shown[50] as Play),
    'too long': shown.with(50, { ...(shown[50] as Play), ended_at: (shown[50]?.ended_at ?? 0) + tickMs }),
    'nothing at all': [],
  };
  expect(deviations(shown, second)).toBe(0);
  for (const [what, plays] of Object.entries(wrong)) expect([what, deviations(plays, second)]).not.toEqual([what, 0]);
});

test('the rules read the clock on the wall: dates, the highest priority, turns, and hours that are held out where it is changed', () => {
  const id = 'cmp_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f';
  const location = 'loc_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f';
  const zurich: KnownScreen = { id: 'scr', location, timezone: 'Europe/Zurich', tags: ['window'] };
  const campaign = (fields: Partial<LiveCampaign>): LiveCampaign => ({
    ...{ id, version: 1, published_at: at(0), priority: 1, start_date: null, end_date: null, holdout_percent: 0 },
    ...{ reaches: () => true, ads: [{ id: 'high', screen_tag: 'window', position: 0 }], ...fields },
  });
  const low = campaign({ id: 'cmp_low', priority: 0, ads: [{ id: 'low', screen_tag: 'window', position: 0 }] });
  const on = (live: LiveCampaign, instant: string) => expectedAt([low, live], zurich, Date.parse(instant));

  expect([bucketOf(`${id}|${location}|2027-03-28|03`), bucketOf(`${id}|${location}|2027-10-31|02`)]).toEqual([11, 21]);
  // The hour that Zurich repeats is held out both times, and the one that it skips not at all.
  const held = campaign({ holdout_percent: 22 });
  const free = campaign({ holdout_percent: 21 });
  for (const instant of ['2027-10-31T00:00:00Z', '2027-10-31T01:59:59Z']) {
    expect(on(held, instant)).toEqual({ plays: ['low'], heldOut: [id] });
    expect(on(free, instant)).toEqual({ plays: ['high'], heldOut: [] });
  }
  expect(wallClock(Date.parse('2027-03-28T00:59:59Z'), 'Europe/Zurich')).toEqual({ date: '2027-03-28', hour: '01' });
  expect(wallClock(Date.parse('2027-03-28T01:00:00Z'), 'Europe/Zurich')).toEqual({ date: '2027-03-28', hour: '03' });
  const day = campaign({ start_date: '2027-03-28', end_date: '2027-03-28' });
  const edges = ['2027-03-27T22:59:59Z', '2027-03-27T23:00:00Z', '2027-03-28T21:59:59Z', '2027-03-28T22:00:00Z'];
  expect(edges.map((instant) => on(day, instant).plays)).toEqual([['low'], ['high'], ['high'], ['low']]);
  const equal = campaign({ priority: 0, published_at: at(-1) });
  expect(on(equal, at(0)).plays).toEqual(['high', 'low']);
  expect(on(campaign({ reaches: () => false }), at(0)).plays).toEqual(['low']);
});

test('in the days that are played, clocks are put an hour forward in two zones, and half an hour back in the third', () => {
  const wall = ({ timezone, at: change }: (typeof changes)[number]) =>
    [change - 1, change].map((instant) => new Date(instant).toLocaleTimeString('en-GB', { timeZone: timezone }));
  expect(changes.map(wall)).toEqual([
    ['01:59:59', '03:00:00'],
    ['01:59:59', '03:00:00'],
    ['01:59:59', '01:30:00'],
  ]);
  for (const days of [1, 14])
    for (const { at: change } of changes)
      expect(spansOf(days).some(({ from, to }) => from < change && change < to)).toBe(true);
});
