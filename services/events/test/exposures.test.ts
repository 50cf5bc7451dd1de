import { chanceFrom } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { exposuresOf } from '../src/exposures/exposures.ts';
import { playHoursOf } from '../src/exposures/play-hours.ts';
import type { Dwell, Play } from '../src/exposures/sweep.ts';
import { localTimeOf } from '../src/time/local-time.ts';

const zone = 'Europe/Zurich';
const minute = 60_000;
/** Both times that the clock shows 2:30 on that day are within the world. */
const begin = Date.parse('2026-10-24T21:00:00Z');

/** Times are whole minutes, so that many coincide. */
function world(seed: number) {
  const chance = chanceFrom(seed);
  const dwells: Dwell[] = [];
  for (let visit = 0; visit < 25; visit++)
    for (const place of ['aisle', 'window'])
      for (let at = begin + chance.int(0, 400) * minute, n = chance.int(0, 3); n > 0; n--) {
        const end = at + chance.int(1, 20) * minute;
        dwells.push({ visit: `v${visit}`, zone: place, start: at, end });
        at = end + chance.int(0, 6) * minute;
      }
  const plays: Play[] = Array.from({ length: 120 }, () => {
    const start = begin + chance.int(-5, 460) * minute;
    return {
      campaign: `c${chance.int(1, 3)}`,
      zone: chance.pick(['aisle', 'window', null]),
      held: chance.int(1, 4) === 1,
      ...{ start, end: start + chance.int(1, 9) * minute },
    };
  });
  const shuffled = <T>(values: readonly T[]) =>
    values
      .map((value) => ({ value, at: chance.share() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ value }) => value);
  return { dwells, plays, shuffled };
}

const hourOf = (instant: number) => {
  const local = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone);
  return { date: local.toPlainDate().toString(), hour: local.hour };
};
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

/** The definitions, pair by pair; the length of a union by counting its minutes. */
function recount({ dwells, plays }: Pick<ReturnType<typeof world>, 'dwells' | 'plays'>) {
  const exposures: object[] = [];
  const hours = new Map<string, { first: number; pairs: number }>();
  for (const visit of new Set(dwells.map((dwell) => dwell.visit)))
    for (const campaign of new Set(plays.map((play) => play.campaign))) {
      const instants: number[] = [];
      const minutes = new Set<number>();
      for (const play of plays.filter((one) => one.campaign === campaign)) {
        const met = dwells
          .filter((dwell) => dwell.visit === visit && dwell.zone === play.zone)
          .map((dwell) => [Math.max(dwell.start, play.start), Math.min(dwell.end, play.end)] as const)
          .filter(([start, end]) => start < end);
        for (const [n, [start]] of met.toSorted((a, b) => a[0] - b[0]).entries()) {
          const key = JSON.stringify({ visit, campaign, held: play.held, ...hourOf(start) });
          const hour = hours.get(key) ?? { first: start, pairs: 0 };
          hours.set(key, { first: Math.min(hour.first, start), pairs: hour.pairs + (n === 0 ? 1 : 0) });
        }
        if (play.held) continue;
        for (const [start, end] of met) {
          instants.push(start);
          for (const at of numbers(start / minute, end / minute)) minutes.add(at);
        }
      }
      const first = Math.min(...instants);
      if (instants.length > 0)
        exposures.push({ visit, campaign, first, ...hourOf(first), exposureMs: minutes.size * minute });
    }
  const meetings = [...hours].map(([key, hour]) => ({ ...JSON.parse(key), ...hour }));
  return { exposures, meetings };
}

const sorted = (rows: readonly object[]) =>
  rows.map((row) => JSON.stringify(Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1)))).toSorted();

test.each([1, 2, 3, 4, 5])(
  'exposures are those of a recount pair by pair, in whatever order items come (%d)',
  (seed) => {
    const { dwells, plays, shuffled } = world(seed);
    const expected = recount({ dwells, plays });
    expect(expected.exposures.length).toBeGreaterThan(20);
    const found = exposuresOf(shuffled(dwells), shuffled(plays), localTimeOf(zone));
    expect(sorted(found.exposures)).toEqual(sorted(expected.exposures));
    expect(sorted(found.meetings)).toEqual(sorted(expected.meetings));
  },
);

test('a play that only touches a dwell was not met, and one that is met twice is one pair', () => {
  const play = { campaign: 'c', zone: 'z', held: false };
  const dwells = [
    { visit: 'v', zone: 'z', start: 0, end: 10 },
    { visit: 'v', zone: 'z', start: 20, end: 30 },
  ];
  const of = (start: number, end: number) => exposuresOf(dwells, [{ ...play, start, end }], localTimeOf('UTC'));
  expect(of(10, 20).exposures).toEqual([]);
  expect(of(30, 40).exposures).toEqual([]);
  const [met] = [of(5, 25)];
  expect(met.meetings).toMatchObject([{ pairs: 1, first: 5 }]);
  expect(met.exposures).toMatchObject([{ first: 5, exposureMs: 10 }]);
});

test('plays are counted in the hour in which they began, both passes of a repeated hour together', () => {
  const start = Date.parse('2026-10-25T00:30:00Z');
  const play = { campaign: 'c', screen: 's', version: 1, held: false, completed: true };
  const plays = [
    { ...play, start, end: start + 5_000 },
    { ...play, start: start + 3_600_000, end: start + 3_607_000, completed: false },
    { ...play, start, end: start + 5_000, held: true, version: 3 },
    { ...play, start: start + 7_200_000, end: start + 7_205_000 },
  ];
  const date = '2026-10-25';
  expect(playHoursOf(plays, localTimeOf(zone))).toEqual([
    {
      campaign: 'c',
      screen: 's',
      date,
      hour: 2,
      plays: 2,
      completedPlays: 1,
      playMs: 12_000,
      heldPlays: 1,
      version: 3,
    },
    { campaign: 'c', screen: 's', date, hour: 3, plays: 1, completedPlays: 1, playMs: 5_000, heldPlays: 0, version: 1 },
  ]);
});
