/** Days, weeks and months of the calendar, each named by its first day (`2026-03-02`). A week begins on Monday. */

export type Period = 'day' | 'week' | 'month';

/** The period that a day is in. */
export function periodOf(date: string, period: Period): string {
  if (period === 'day') return date;
  if (period === 'month') return `${date.slice(0, -2)}01`;
  const day = Temporal.PlainDate.from(date);
  return day.subtract({ days: day.dayOfWeek - 1 }).toString();
}

const steps = { day: { days: 1 }, week: { weeks: 1 }, month: { months: 1 } } as const;

/** The period after one. */
export const nextPeriod = (first: string, period: Period): string =>
  Temporal.PlainDate.from(first).add(steps[period]).toString();

/** How many periods the second one is after the first. */
export function periodsBetween(first: string, second: string, period: Period): number {
  const unit = `${period}s` as const;
  return Temporal.PlainDate.from(first).until(Temporal.PlainDate.from(second), { largestUnit: unit })[unit];
}

/** How many periods the days from one to another touch. */
export const countPeriods = (from: string, to: string, period: Period): number =>
  periodsBetween(periodOf(from, period), periodOf(to, period), period) + 1;

/** The periods that the days from one to another touch, in order. */
export function periodsFrom(from: string, to: string, period: Period): string[] {
  const first = Temporal.PlainDate.from(periodOf(from, period));
  const unit = `${period}s` as const;
  return Array.from({ length: countPeriods(from, to, period) }, (_, n) => first.add({ [unit]: n }).toString());
}
