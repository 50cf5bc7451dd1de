import type { PlanPriceRow } from '../prices/index.ts';
import type { SubscriptionRow } from './subscription.store.ts';

/** The state of a subscription as its owner sees it. */
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

/** The state for an account without a running subscription. */
export const canceledSnapshot = (latest: SubscriptionRow | undefined): Snapshot => ({
  status: 'canceled',
  cancel_at_period_end: false,
  current_period_end: latest?.current_period_end?.toISOString() ?? null,
});

/** Whether it may still be charged. */
export const isLive = ({ status }: Pick<SubscriptionRow, 'status'>) =>
  status !== 'canceled' && status !== 'incomplete_expired';

/** Whether it has ended, or should have ended by now and the provider's notification may be on its way. */
export const isOver = (row: SubscriptionRow, now: Date) =>
  !isLive(row) || (row.cancel_at_period_end && row.current_period_end !== null && row.current_period_end <= now);

/** Compares the price per year. A change to a higher price is charged at once. */
export function changeTypeOf(from: PlanPriceRow | undefined, to: PlanPriceRow): 'upgrade' | 'downgrade' {
  return from && yearly(to) <= yearly(from) ? 'downgrade' : 'upgrade';
}

const yearly = ({ amount_cents, interval }: PlanPriceRow) => amount_cents * (interval === 'month' ? 12 : 1);
