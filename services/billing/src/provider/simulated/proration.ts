import { type Interval, periodEnd } from './period.ts';

export interface Prorated {
  /** Given back for what is left of the period at the old price. */
  readonly credit: number;
  /** For what is left of it at the new price, or for the new period. */
  readonly charge: number;
  /** Whether the charge is for a part of a period. */
  readonly part: boolean;
  readonly anchor: number;
  readonly start: number;
  readonly end: number;
}

interface Plan {
  readonly amount: number;
  readonly interval: Interval;
}

/** What a change of plan costs at a moment; another interval begins a new period. Cents; seconds since the epoch. */
export function prorate(
  period: { readonly anchor: number; readonly start: number; readonly end: number },
  from: Plan,
  to: Plan,
  now: number,
): Prorated {
  const total = period.end - period.start;
  const left = Math.min(total, Math.max(0, period.end - now));
  const credit = share(from.amount, left, total);
  // Counted from the end: a change to another interval waits for it, and this period is of the earlier one.
  const sameInterval = from.interval === to.interval && period.anchor < period.end;
  if (sameInterval) return { ...period, credit, charge: share(to.amount, left, total), part: true };
  return { credit, charge: to.amount, part: false, anchor: now, start: now, end: periodEnd(now, now, to.interval) };
}

/** Half a cent is rounded up; in integers, as cents times seconds outgrow what a double counts exactly. */
function share(amount: number, part: number, whole: number): number {
  const [a, p, w] = [BigInt(amount), BigInt(part), BigInt(whole)];
  return Number((2n * a * p + w) / (2n * w));
}
