import type { PlanPriceRow } from '../prices/index.ts';
import type { SubscriptionRow } from './subscription.store.ts';

/** What there is of a subscription for its owner. */
export interface Snapshot {
  readonly status: SubscriptionRow['status'];
  readonly cancel_at_period_end: boolean;
  readonly current_period_end: string | null;
}

export const snapshotOf = ({ status, cancel_at_period_end, current_period_end }: SubscriptionRow): Snapshot => ({
  status,
  cancel_at_period_end,
  current_period_end: current_period_end?.toISOString() ?? null,
});

/** Of whom has none that runs. */
export const canceledSnapshot = (latest: SubscriptionRow | undefined): Snapshot => ({
  status: 'canceled',
  cancel_at_period_end: false,
  current_period_end: latest?.current_period_end?.toISOString() ?? null,
});

/** It may still be charged for. */
export const isLive = ({ status }: Pick<SubscriptionRow, 'status'>) =>
  status !== 'canceled' && status !== 'incomplete_expired';

/** It has ended, or was to end at a moment that is over: the provider's word of it may be on its way. */
export const isOver = (row: SubscriptionRow, now: Date) =>
  !isLive(row) || (row.cancel_at_period_end && row.current_period_end !== null && row.current_period_end <= now);

/** By what a year costs: a change to more is paid for at once. */
export function changeTypeOf(from: PlanPriceRow | undefined, to: PlanPriceRow): 'upgrade' | 'downgrade' {
  return from && yearly(to) <= yearly(from) ? 'downgrade' : 'upgrade';
}

const yearly = ({ amount_cents, interval }: PlanPriceRow) => amount_cents * (interval === 'month' ? 12 : 1);
