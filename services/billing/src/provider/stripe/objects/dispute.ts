import type Stripe from 'stripe';
import type { ProviderDispute, ProviderFraudWarning } from '../../payment-provider.ts';
import { idOf } from '../ids.ts';
import { dateOf } from './values.ts';

/** Statuses after which nothing more comes. An inquiry is closed without a dispute, or prevented by a refund. */
const DECIDED: ReadonlyMap<string, ProviderDispute['status']> = new Map([
  ['won', 'won'],
  ['warning_closed', 'won'],
  ['prevented', 'won'],
  ['lost', 'lost'],
]);

export const disputeOf = ({
  id,
  payment_intent,
  amount,
  status,
  reason,
  created,
}: Stripe.Dispute): ProviderDispute => ({
  id,
  payment_id: idOf(payment_intent) ?? '',
  amount_cents: amount,
  status: DECIDED.get(status) ?? 'open',
  reason,
  created_at: dateOf(created),
});

export const fraudWarningOf = ({
  id,
  payment_intent,
  actionable,
}: Stripe.Radar.EarlyFraudWarning): ProviderFraudWarning => ({
  id,
  payment_id: idOf(payment_intent) ?? '',
  actionable,
});
