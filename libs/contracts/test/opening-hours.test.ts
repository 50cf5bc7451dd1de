import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { OpeningHours, weekdays } from '../src/organization/opening-hours.ts';

/** `09:00-12:00 13:00-18:00` as spans. */
const spans = (text: string) =>
  text
    .split(' ')
    .filter(Boolean)
    .map((span) => {
      const [opens = '', closes = ''] = span.split('-');
      return { opens, closes };
    });
const week = (days: Record<string, string>) =>
  Object.fromEntries(Object.entries(days).map(([day, text]) => [day, spans(text)]));

/** Every issue as `mon[1].opens: message, not value`. */
function issues(given: unknown) {
  const { error } = OpeningHours.safeParse(given, { reportInput: true });
  return (error?.issues ?? []).map(({ path: [day, index, field], message, input }) => {
    return `${String(day)}[${String(index)}].${String(field)}: ${message}, not ${String(input)}`;
  });
}

describe('opening hours', () => {
  test.each<[string, Record<string, string>]>([
    ['no day', {}],
    ['a closed day', { sun: '' }],
    ['a whole day', { mon: '00:00-24:00' }],
    ['every hour of the week', Object.fromEntries(weekdays.map((day) => [day, '00:00-24:00']))],
    ['a lunch break', { mon: '09:00-12:00 13:00-18:00' }],
    ['four spans', { mon: '00:00-01:00 02:00-03:00 04:00-05:00 23:58-23:59' }],
    ['a night into the next day', { fri: '18:00-02:00' }],
    ['a night until midnight, said either way', { fri: '18:00-24:00', sat: '18:00-00:00' }],
    ['a night that ends as the next day begins to be open', { fri: '18:00-02:00', sat: '02:00-12:00' }],
    ['a night before a day that begins at midnight', { fri: '18:00-24:00', sat: '00:00-03:00' }],
    ['a minute short of a day, from each noon', Object.fromEntries(weekdays.map((day) => [day, '12:00-11:59']))],
    ['sunday night into monday', { sun: '20:00-04:00', mon: '04:00-05:00' }],
    ['a lunch and a night', { sat: '11:00-14:00 18:00-03:00' }],
  ])('%s', (_what, days) => {
    expect(OpeningHours.parse(week(days))).toEqual(week(days));
  });

  test.each<[string, Record<string, string>, string]>([
    ['a span without length', { mon: '09:00-09:00' }, 'mon[0].closes: must differ from opens'],
    ['midnight to midnight', { mon: '00:00-00:00' }, 'mon[0].closes: must differ from opens'],
    ['an overlap', { mon: '09:00-13:00 12:00-18:00' }, 'mon[1].opens: must not overlap the span before it, not 12:00'],
    ['the same twice', { mon: '09:00-13:00 09:00-13:00' }, 'mon[1].opens: must not overlap the span before it'],
    ['one within', { mon: '09:00-18:00 12:00-13:00' }, 'mon[1].opens: must not overlap the span before it'],
    ['two that touch', { mon: '09:00-12:00 12:00-18:00' }, 'mon[1].opens: must be after the span before it closes'],
    ['another order', { mon: '13:00-18:00 09:00-12:00' }, 'mon[1].opens: must be later than the span before it'],
    ['a span behind a night', { fri: '18:00-02:00 20:00-21:00' }, 'fri[1].opens: must not overlap'],
    ['the night within its own day', { fri: '18:00-02:00 00:00-01:00' }, 'fri[1].opens: must be later'],
    ['the third', { tue: '08:00-09:00 10:00-11:00 10:30-12:00' }, 'tue[2].opens: must not overlap the span before it'],
    [
      'a night into a day',
      { fri: '18:00-02:00', sat: '01:59-12:00' },
      'sat[0].opens: must not overlap the last span of fri, not 01:59',
    ],
    [
      'sunday into monday',
      { mon: '03:00-12:00', sun: '18:00-03:01' },
      'mon[0].opens: must not overlap the last span of sun, not 03:00',
    ],
  ])('%s is refused, at its place', (_what, days, issue) => {
    expect(issues(week(days))).toEqual([expect.stringContaining(issue)]);
  });

  test('only the first of several faults is reported, those within a day before those between days', () => {
    expect(
      issues(week({ mon: '01:00-05:00', wed: '09:00-09:00 08:00-07:00', sun: '20:00-02:00 22:00-23:00' })),
    ).toEqual(['wed[0].closes: must differ from opens (a whole day is 00:00 to 24:00), not 09:00']);
  });

  test.each([
    [{ opens: '24:00', closes: '02:00' }, 'opens'],
    [{ opens: '9:00', closes: '18:00' }, 'opens'],
    [{ opens: '09:00:00', closes: '18:00' }, 'opens'],
    [{ opens: '09:60', closes: '18:00' }, 'opens'],
    [{ opens: '09:00', closes: '24:01' }, 'closes'],
    [{ opens: '09:00', closes: '25:00' }, 'closes'],
    [{ opens: '09:00', closes: '18:00\n' }, 'closes'],
  ])('%j has an invalid time of day, and only that is reported', (span, field) => {
    expect(issues({ mon: [span, span] })).toEqual([
      expect.stringContaining(`mon[0].${field}: must be a time of day (HH:MM)`),
      expect.stringContaining(`mon[1].${field}: must be a time of day (HH:MM)`),
    ]);
  });

  test.each([
    ['five spans', week({ mon: '00:00-01:00 02:00-03:00 04:00-05:00 06:00-07:00 08:00-09:00' })],
    ['a day that is none', { monday: [] }],
    ['a list', []],
    ['a day of null', { mon: null }],
    ['a span without an end', { mon: [{ opens: '09:00' }] }],
  ])('%s is refused', (_what, given) => {
    expect(OpeningHours.safeParse(given).success).toBe(false);
  });

  /** How often each hour of the week is covered by spans of whole hours, computed in a slow and simple way. */
  function covered(given: Record<string, { opens: string; closes: string }[]>): number[] {
    const times = new Array<number>(7 * 24).fill(0);
    for (const [index, day] of weekdays.entries()) {
      for (const { opens, closes } of given[day] ?? []) {
        const length = (Number.parseInt(closes, 10) - Number.parseInt(opens, 10) + 24) % 24 || 24;
        for (let hour = 0; hour < length; hour++) {
          const place = (index * 24 + Number.parseInt(opens, 10) + hour) % times.length;
          times[place] = (times[place] ?? 0) + 1;
        }
      }
    }
    return times;
  }

  test('no valid week covers an hour twice, and every ordered week without overlap is valid', () => {
    const hour = fc.integer({ min: 0, max: 23 }).map((number) => `${String(number).padStart(2, '0')}:00`);
    const midnight = { weight: 1, arbitrary: fc.constant('24:00') };
    const span = fc.record({ opens: hour, closes: fc.oneof({ weight: 8, arbitrary: hour }, midnight) });
    const lists = fc.array(fc.array(span, { maxLength: 2 }), { minLength: 7, maxLength: 7 });
    let passed = 0;
    const property = fc.property(lists, (days) => {
      const given = Object.fromEntries(
        weekdays.flatMap((day, index) => (days[index]?.length ? [[day, days[index]] as const] : [])),
      );
      const good = OpeningHours.safeParse(given).success;
      const opened = Object.values(given);
      if (opened.some((list) => list.some(({ opens, closes }) => opens === closes))) {
        expect(good).toBe(false);
        return;
      }
      const ordered = opened.every((list) =>
        list.every(({ opens }, i) => i === 0 || (opens > (list[i - 1]?.opens ?? '') && opens !== list[i - 1]?.closes)),
      );
      expect([given, good]).toEqual([given, ordered && covered(given).every((times) => times < 2)]);
      if (good) passed++;
    });
    fc.assert(property, { numRuns: 3000 });
    expect(passed).toBeGreaterThan(100);
  });
});
