import { describe, expect, test } from '@jest/globals';
import { buildManifest } from '../src/manifests/build-manifest.ts';
import { holdoutBucket } from '../src/manifests/holdout.ts';
import { coveredTime, endOfDay, localHours, startOfDay } from '../src/manifests/local-time.ts';
import { newAd, newPlaying, oneScreen } from './support-manifests.ts';

const iso = (instant: number) => new Date(instant).toISOString().replace(':00.000Z', 'Z');
const at = (text: string) => new Date(text).getTime();

describe('a local day', () => {
  test.each([
    ['Europe/Zurich', '2027-03-28', '2027-03-27T23:00Z', '2027-03-28T22:00Z', 23],
    ['Europe/Zurich', '2027-10-31', '2027-10-30T22:00Z', '2027-10-31T23:00Z', 25],
    ['America/Santiago', '2027-09-05', '2027-09-05T04:00Z', '2027-09-06T03:00Z', 23],
    ['Australia/Lord_Howe', '2027-04-04', '2027-04-03T13:00Z', '2027-04-04T13:30Z', 24.5],
    ['UTC', '2028-02-29', '2028-02-29T00:00Z', '2028-03-01T00:00Z', 24],
  ])('in %s, %s, is from %s to %s, %d hours long', (zone, date, from, to, hours) => {
    const [start, end] = [startOfDay(date, zone), endOfDay(date, zone)];
    expect([iso(start), iso(end), (end - start) / 3_600_000]).toEqual([from, to, hours]);
    const dates = new Set(localHours(start, end, zone).map((hour) => hour.date));
    expect([...dates][0]).toBe(date);
    expect(dates.size).toBe(2); // The last hour is the first of the next day.
  });

  test('has no hour that its clock skips, and twice one that it repeats', () => {
    const hoursOf = (date: string, zone: string) =>
      localHours(startOfDay(date, zone), endOfDay(date, zone), zone)
        .slice(0, -1)
        .map(({ start, hour }) => [iso(start).slice(11), hour]);
    expect(hoursOf('2027-03-28', 'Europe/Zurich').slice(0, 4)).toEqual([
      ...[
        ['23:00Z', 0],
        ['00:00Z', 1],
        ['01:00Z', 3],
        ['02:00Z', 4],
      ],
    ]);
    expect(hoursOf('2027-10-31', 'Europe/Zurich').slice(1, 5)).toEqual([
      ...[
        ['23:00Z', 1],
        ['00:00Z', 2],
        ['01:00Z', 2],
        ['02:00Z', 3],
      ],
    ]);
    expect(hoursOf('2027-09-05', 'America/Santiago')[0]).toEqual(['04:00Z', 1]);
    expect(hoursOf('2027-04-04', 'Australia/Lord_Howe').slice(0, 4)).toEqual([
      ...[
        ['13:00Z', 0],
        ['14:00Z', 1],
        ['15:00Z', 1],
        ['15:30Z', 2],
      ],
    ]);
  });

  test.each([
    ['2027-06-01T10:00Z', 'Europe/Zurich', '2027-05-31T22:00Z', '2027-06-03T22:00Z', '2027-06-01T22:00Z'],
    ['2027-05-31T22:00Z', 'Europe/Zurich', '2027-05-31T22:00Z', '2027-06-02T22:00Z', '2027-05-31T22:00:00.001Z'],
    ['2027-10-30T22:00Z', 'Europe/Zurich', '2027-10-30T22:00Z', '2027-11-01T23:00Z', '2027-10-30T23:00:00.001Z'],
    ['2027-09-03T04:00Z', 'America/Santiago', '2027-09-03T04:00Z', '2027-09-05T04:00Z', '2027-09-03T04:00:00.001Z'],
    ['2027-09-04T03:30Z', 'America/Santiago', '2027-09-03T04:00Z', '2027-09-07T03:00Z', '2027-09-04T04:00Z'],
    ['2027-04-02T20:00Z', 'Australia/Lord_Howe', '2027-04-02T13:00Z', '2027-04-05T13:30Z', '2027-04-03T13:00Z'],
  ])('at %s in %s a manifest covers %s to %s, until %s', (now, zone, from, to, until) => {
    const covered = coveredTime(at(now), zone);
    expect([covered.from, covered.to, covered.until].map(iso)).toEqual([from, to, until]);
  });
});

describe('a holdout', () => {
  const campaign = 'cmp_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f';
  const location_id = 'loc_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f';

  test('depends on campaign, location, local date and hour alone', () => {
    const bucket = (date: string, hour: number) => holdoutBucket(campaign, location_id, { start: 0, date, hour });
    expect([bucket('2027-03-28', 3), bucket('2027-10-31', 2)]).toEqual([11, 21]);
  });

  /** The holdouts within a day of a campaign that is held out below this figure. */
  function heldOut(percent: number, timezone: string, now: string, from: string, to: string) {
    const playing = newPlaying({ id: campaign, holdout_percent: percent });
    const facts = { ...oneScreen(timezone, [playing], [newAd(playing)]), place: { location_id, timezone } };
    const { content } = buildManifest(facts, at(now));
    return content.holdouts
      .map(({ start_at, end_at }) => [iso(at(start_at)), iso(at(end_at))])
      .filter(([start = '', end = '']) => start < to && end > from);
  }

  test('lasts both hours where the clock repeats one, and none where it skips one', () => {
    const night = ['2027-10-31T00:00Z', '2027-10-31T02:00Z'] as const;
    const [now, from, to] = ['2027-10-30T22:00Z', ...night] as const;
    const [start, end] = heldOut(22, 'Europe/Zurich', now, from, to)[0] ?? [];
    expect(String(start) <= from && String(end) >= to).toBe(true);
    expect(heldOut(21, 'Europe/Zurich', now, from, to)).toEqual([]);
    const spring = ['2027-03-27T23:00Z', '2027-03-28T01:00Z', '2027-03-28T02:00Z'] as const;
    expect(heldOut(12, 'Europe/Zurich', ...spring)).toHaveLength(1);
    expect(heldOut(11, 'Europe/Zurich', ...spring)).toEqual([]);
  });
});
