import type { Price } from './objects.ts';

export type Interval = NonNullable<Price['recurring']>['interval'];

/**
 * The end of the period that begins at `start`: the first date after `start` that the anchor gives. In seconds since
 * the epoch.
 */
export function periodEnd(anchor: number, start: number, interval: Interval): number {
  const step = interval === 'month' ? 1 : 12;
  for (let months = step; ; months += step) {
    const end = plusMonths(anchor, months);
    if (end > start) return end;
  }
}

/**
 * Adds months in UTC. In a month that is too short it gives the last day: the 31st is followed by the 28th, and then
 * by the 31st again.
 */
function plusMonths(anchor: number, months: number): number {
  const from = new Date(anchor * 1000);
  const to = new Date(from);
  to.setUTCDate(1);
  to.setUTCMonth(from.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0)).getUTCDate();
  to.setUTCDate(Math.min(from.getUTCDate(), lastDay));
  return Math.floor(to.getTime() / 1000);
}
