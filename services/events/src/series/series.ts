import { type Interval, Problem } from '@attribution/contracts';
import { countPeriods, periodsFrom } from '../time/index.ts';

export type { Interval } from '@attribution/contracts';

/** Local days; null: open. */
interface Range {
  readonly from: string | null;
  readonly to: string | null;
}

const mostBuckets = 1_000;
const mostDaysOfHours = 31;
const hoursOfDay = Array.from({ length: 24 }, (_, hour) => hour);

/** Throws `validation-error` where a series of the range would be too long, as far as it can be told without data. */
export function refuseLongSeries({ from, to }: Range, interval: Interval): void {
  if (interval !== 'hour') {
    if (from !== null && to !== null && countPeriods(from, to, interval) > mostBuckets) throw tooLong();
  } else if (from === null || to === null) {
    throw new Problem('validation-error', 'query.interval: hour needs both from and to.');
  } else if (countPeriods(from, to, 'day') > mostDaysOfHours) {
    throw new Problem(
      'validation-error',
      `query.to: ${to} is after ${mostDaysOfHours} days, the most that hour takes.`,
    );
  }
}

const tooLong = () =>
  new Problem('validation-error', `query.interval: the range has more than ${mostBuckets} buckets.`);

/** A bucket that has data: its first day, and with `hour` the hour by the local clock, else 0. */
interface Bucket {
  readonly date: string;
  readonly hour: number;
}

/**
 * Every bucket of a range in order, made of its data by `view`: undefined where there is none. An open side begins or ends
 * with the first or the last of the data, which are in order. Throws `validation-error` where there are too many.
 */
export function seriesOf<Row extends Bucket, View>(
  rows: readonly Row[],
  { from, to }: Range,
  interval: Interval,
  view: (row: Row | undefined) => View,
): (View & { readonly date: string; readonly hour?: number })[] {
  const [first, last] = [from ?? rows[0]?.date, to ?? rows.at(-1)?.date];
  if (first === undefined || last === undefined) return [];
  const known = new Map(rows.map((row) => [`${row.date} ${row.hour}`, row]));
  const viewed = (date: string, hour: number) => view(known.get(`${date} ${hour}`));
  if (interval === 'hour')
    return periodsFrom(first, last, 'day').flatMap((date) =>
      hoursOfDay.map((hour) => ({ date, hour, ...viewed(date, hour) })),
    );
  if (countPeriods(first, last, interval) > mostBuckets) throw tooLong();
  return periodsFrom(first, last, interval).map((date) => ({ date, ...viewed(date, 0) }));
}
