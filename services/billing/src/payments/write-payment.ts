import { invoicePaid, paymentFailed, paymentSucceeded } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { newEvent } from '@attribution/messaging';
import { postEntry } from '../ledger/index.ts';
import { findPrices } from '../prices/index.ts';
import type { ProviderInvoice, ProviderPayment } from '../provider/index.ts';
import type { Writing } from '../store.ts';
import { findPaymentOf, type PaymentRow, putPayment } from './payment.store.ts';
import { invoicePayment, packPayment, type ToldPayment } from './payment.ts';

/** The provider's state of a payment, or of an invoice with the payment for it. */
export type PaymentNow =
  | { readonly payment: ProviderPayment; readonly invoice?: undefined }
  | { readonly payment: ProviderPayment | undefined; readonly invoice: ProviderInvoice };

/** Stores the provider's state of a payment. Publishes each change of status and posts it to the ledger once. */
export async function writePayment(
  writing: Writing,
  { payment, invoice }: PaymentNow,
): Promise<PaymentRow | undefined> {
  const { tx, customer, tell } = writing;
  const planKeys = invoice ? invoice.lines.map((line) => line.plan_key) : [payment.plan_key];
  const plans = await findPrices(tx, invoice ? [invoice.plan_key, ...planKeys] : planKeys);
  const now = invoice ? invoicePayment(invoice, payment, plans) : packPayment(payment, plans);
  // A payment in another currency was not made through billing. The ledger check reports it.
  if (!now || now.currency !== customer.currency) return undefined;
  const before = await findPaymentOf(tx, now);
  // A failed payment that is attempted again stays `failed` until the attempt succeeds.
  const told = before?.status === 'failed' && now.status === 'pending' ? { ...now, status: before.status } : now;
  // A payment that has succeeded never goes back to another status.
  if (before?.status === 'succeeded' && told.status !== 'succeeded') return before;
  const id = before?.id ?? newId('payment');
  await putPayment(tx, id, customer.account_id, told);
  if (told.status !== before?.status) {
    const description = plans.get(told.plan_key)?.name ?? told.plan_key;
    if (told.status === 'succeeded' && told.amount_cents > 0)
      await postEntry(writing, { kind: 'payment', amount: told.amount_cents, description, paymentId: id });
    const event = eventOf(writing, { id, told, description });
    if (event) tell(event);
  }
  return findPaymentOf(tx, told);
}

function eventOf(
  { customer: { account_id }, context }: Writing,
  { id, told, description }: { id: string; told: ToldPayment; description: string },
) {
  const { kind, plan_key, amount_cents, currency, token_amount, receipt_url } = told;
  const bought = { account_id, payment_id: id, description, amount_cents, currency };
  const data = { ...bought, kind, plan_key, token_amount, receipt_url };
  if (told.status === 'failed') return newEvent(paymentFailed, { ...data, reason: told.failure }, context);
  if (told.status !== 'succeeded') return undefined;
  return newEvent(kind === 'subscription' ? invoicePaid : paymentSucceeded, data, context);
}
