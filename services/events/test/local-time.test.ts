import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { endOfDay, localTimeOf, startOfDay } from '../src/time/local-time.ts';
import { countPeriods, nextPeriod, type Period, periodOf, periodsBetween, periodsFrom } from '../src/time/periods.ts';

const zurich = 'Europe/Zurich';
const at = (text: string) => Date.parse(text);

test.each([
  ['2026-10-25', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z', 25],
  ['2026-03-29', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z', 23],
])('in Zurich %s is as long as it is', (date, start, end, hours) => {
  expect(startOfDay(date, zurich)).toBe(at(start));
  expect(endOfDay(date, zurich)).toBe(at(end));
  expect((at(end) - at(start)) / 3_600_000).toBe(hours);
  const local = localTimeOf(zurich);
  expect(local(at(start) - 1).date < date).toBe(true);
  expect([local(at(start)).date, local(at(end) - 1).date]).toEqual([date, date]);
});

test('both passes of a repeated hour are that hour, and a skipped one is nowhere', () => {
  const local = localTimeOf(zurich);
  expect(['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'].map((text) => local(at(text)).hour)).toEqual([2, 2]);
  const hours: number[] = [];
  for (let t = startOfDay('2026-03-29', zurich); t < endOfDay('2026-03-29', zurich); t += 3_600_000)
    hours.push(local(t).hour);
  expect(hours).toEqual([0, 1, ...Array.from({ length: 21 }, (_, n) => n + 3)]);
});

test('the local time is that of Temporal, in whatever order instants are asked for', () => {
  const zones = [zurich, 'Australia/Lord_Howe', 'America/St_Johns', 'Asia/Kathmandu', 'Africa/Casablanca', 'UTC'];
  const instant = fc.integer({ min: at('2026-01-01T00:00:00Z'), max: at('2027-12-31T00:00:00Z') });
  const jumps = fc.constantFrom(0, 1, 1_799_999, 1_800_000, 3_599_999);
  for (const zone of zones) {
    const local = localTimeOf(zone);
    fc.assert(
      fc.property(instant, jumps, (base, jump) => {
        const t = base - (base % 3_600_000) + jump;
        const expected = Temporal.Instant.fromEpochMilliseconds(t).toZonedDateTimeISO(zone);
        expect(local(t)).toMatchObject({ date: expected.toPlainDate().toString(), hour: expected.hour });
      }),
      { numRuns: 150 },
    );
  }
});

test('a week begins on Monday and a month on its first, across the ends of years', () => {
  expect(periodOf('2026-01-01', 'week')).toBe('2025-12-29');
  expect(periodOf('2026-03-02', 'week')).toBe('2026-03-02');
  expect(periodOf('2026-02-28', 'month')).toBe('2026-02-01');
  expect(nextPeriod('2026-12-01', 'month')).toBe('2027-01-01');
  expect(nextPeriod('2026-12-28', 'week')).toBe('2027-01-04');
});

test('the periods of a range are all that its days are in, and they are counted without listing them', () => {
  const day = fc.integer({ min: 0, max: 1000 }).map((n) => Temporal.PlainDate.from('2025-11-01').add({ days: n }));
  fc.assert(
    fc.property(
      day,
      fc.integer({ min: 0, max: 120 }),
      fc.constantFrom<Period>('day', 'week', 'month'),
      (first, n, period) => {
        const days = Array.from({ length: n + 1 }, (_, after) => first.add({ days: after }).toString());
        const expected = [...new Set(days.map((date) => periodOf(date, period)))];
        const [from, to] = [days[0] ?? '', days.at(-1) ?? ''];
        expect(periodsFrom(from, to, period)).toEqual(expected);
        expect(countPeriods(from, to, period)).toBe(expected.length);
        expect(periodsBetween(expected[0] ?? '', expected.at(-1) ?? '', period)).toBe(expected.length - 1);
      },
    ),
    { numRuns: 60 },
  );
});
