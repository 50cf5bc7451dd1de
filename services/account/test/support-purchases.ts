import { type EventData, paymentSucceeded, refundFailed, refundSucceeded } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { rows } from './support.ts';
import { holdId } from './support-ledger.ts';

type Payment = EventData<typeof paymentSucceeded>;
type Refund = EventData<typeof refundSucceeded>;

/** The event data of a payment; by default of 500 tokens for $79. */
export const paymentOf = (accountId: string, fields: Partial<Payment> = {}): Payment => ({
  account_id: accountId,
  payment_id: newId('payment'),
  kind: 'token_pack',
  plan_key: 'pack_500',
  description: '500 tokens',
  amount_cents: 7900,
  currency: 'usd',
  token_amount: 500,
  receipt_url: 'https://pay.example/receipts/1',
  ...fields,
});

/** The event data of a refund; by default of the full payment. */
export const refundOf = (payment: Payment, fields: Partial<Refund> = {}): Refund => ({
  destination: 'payment_method',
  account_id: payment.account_id,
  payment_id: payment.payment_id,
  description: payment.description,
  amount_cents: payment.amount_cents,
  currency: payment.currency,
  refund_id: newId('refund'),
  token_amount: payment.token_amount,
  hold_id: null,
  ...fields,
});

/** The entry that a payment brought. */
export async function purchaseOf(service: TestService, { account_id, payment_id }: Payment): Promise<string> {
  const found = await rows<{ id: string }>(
    service,
    'SELECT id FROM ledger_entries WHERE account_id = $1 AND idempotency_key = $2',
    account_id,
    `payment:${payment_id}`,
  );
  return found[0]?.id ?? 'none';
}

/** Delivers the event of a purchase, and returns the payment and the id of its grant. */
export async function buy(service: TestService, accountId: string, fields: Partial<Payment> = {}) {
  const payment = paymentOf(accountId, fields);
  await service.deliver(paymentSucceeded, payment, accountId);
  return { payment, grantId: await purchaseOf(service, payment) };
}

/** Reserves tokens of a purchase for its refund; all of them by default. */
export const holdPurchase = (service: TestService, payment: Payment, amount = payment.token_amount) =>
  holdId(service, payment.account_id, { payment_id: payment.payment_id, amount, expires_in: '30d' });

export const refundPaid = (service: TestService, refund: Refund) =>
  service.deliver(refundSucceeded, refund, refund.account_id);

export const refundRefused = (service: TestService, refund: Refund, reversed = false) =>
  service.deliver(refundFailed, { ...refund, reversed }, refund.account_id);
