import { type Interval, periodEnd } from './period.ts';

export interface Prorated {
  /** The credit for the remaining time at the old price. */
  readonly credit: number;
  /** The charge for the remaining time at the new price, or for the new period. */
  readonly charge: number;
  /** Whether the charge is for a part of a period only. */
  readonly partial: boolean;
  readonly anchor: number;
  readonly start: number;
  readonly end: number;
}

interface Plan {
  readonly amount: number;
  readonly interval: Interval;
}

/**
 * The cost of a change of plan at this moment. A change of interval begins a new period. Amounts in cents, times in
 * seconds since the epoch.
 */
export function prorate(
  period: { readonly anchor: number; readonly start: number; readonly end: number },
  from: Plan,
  to: Plan,
  now: number,
): Prorated {
  const total = period.end - period.start;
  const remaining = Math.min(total, Math.max(0, period.end - now));
  const credit = share(from.amount, remaining, total);
  // An anchor at the end of the period means that a change to another interval is pending, and that the current period
  // is still one of the former interval.
  const sameInterval = from.interval === to.interval && period.anchor < period.end;
  if (sameInterval) return { ...period, credit, charge: share(to.amount, remaining, total), partial: true };
  return { credit, charge: to.amount, partial: false, anchor: now, start: now, end: periodEnd(now, now, to.interval) };
}

/**
 * A share of the amount, rounded half up. Computed with integers, because cents times seconds exceed the exact range
 * of a double.
 */
function share(amount: number, part: number, whole: number): number {
  const [a, p, w] = [BigInt(amount), BigInt(part), BigInt(whole)];
  return Number((2n * a * p + w) / (2n * w));
}
