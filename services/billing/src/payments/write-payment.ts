import { invoicePaid, paymentFailed, paymentSucceeded, paymentWaits } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { newEvent } from '@attribution/messaging';
import { postEntry } from '../ledger/index.ts';
import { findPrices } from '../prices/index.ts';
import type { ProviderInvoice, ProviderPayment } from '../provider/index.ts';
import type { Writing } from '../store.ts';
import { findPaymentOf, type PaymentRow, putPayment } from './payment.store.ts';
import { confirmedBefore, invoicePayment, type PaymentUpdate, packPayment } from './payment.ts';

/** The provider's state of a payment, or of an invoice with the payment for it. */
export type PaymentNow =
  | { readonly payment: ProviderPayment; readonly invoice?: undefined }
  | { readonly payment: ProviderPayment | undefined; readonly invoice: ProviderInvoice };

/** Stores the provider's state of a payment. Publishes each change of status and posts it to the ledger once. */
export async function writePayment(
  writing: Writing,
  { payment, invoice }: PaymentNow,
): Promise<PaymentRow | undefined> {
  const { tx, customer, publish } = writing;
  const planKeys = invoice ? invoice.lines.map((line) => line.plan_key) : [payment.plan_key];
  const plans = await findPrices(tx, invoice ? [invoice.plan_key, ...planKeys] : planKeys);
  const now = invoice ? invoicePayment(invoice, payment, plans) : packPayment(payment, plans);
  // A payment in another currency was not made through billing. The ledger check reports it.
  if (!now || now.currency !== customer.currency) return undefined;
  const before = await findPaymentOf(tx, now);
  // A failed payment that is attempted again stays `failed` until the attempt succeeds.
  const update = before?.status === 'failed' && now.status === 'pending' ? { ...now, status: before.status } : now;
  // A payment that has succeeded never goes back to another status.
  if (before?.status === 'succeeded' && update.status !== 'succeeded') return before;
  const id = before?.id ?? newId('payment');
  await putPayment(tx, id, customer.account_id, update);
  if (update.status !== before?.status) {
    const description = plans.get(update.plan_key)?.name ?? update.plan_key;
    if (update.status === 'succeeded') await book(writing, id, update, description);
    const event = eventOf(writing, { id, update, description });
    if (event) publish(event);
  }
  if (invoice && update.asked_holder && !before?.asked_holder) publish(waitsOf(writing, id, update, invoice, plans));
  return findPaymentOf(tx, update);
}

function waitsOf(
  { customer: { account_id }, context }: Writing,
  id: string,
  { kind, plan_key, amount_cents, currency, token_amount, receipt_url }: PaymentUpdate,
  invoice: ProviderInvoice,
  plans: ReadonlyMap<string, { readonly name: string }>,
) {
  const description = plans.get(plan_key)?.name ?? plan_key;
  const bought = { account_id, payment_id: id, description, amount_cents, currency, token_amount, receipt_url };
  const expires_at = confirmedBefore(invoice)?.toISOString() ?? null;
  return newEvent(paymentWaits, { ...bought, kind, plan_key, page_url: invoice.page_url, expires_at }, context);
}

/** What was charged, and what the invoice used of the store credit, or gave as such. */
async function book(
  writing: Writing,
  paymentId: string,
  { amount_cents, credit_cents }: PaymentUpdate,
  name: string,
): Promise<void> {
  if (amount_cents > 0)
    await postEntry(writing, { kind: 'payment', amount: amount_cents, description: name, paymentId });
  if (credit_cents === 0) return;
  const description = credit_cents > 0 ? `Paid from store credit: ${name}` : `Given as store credit: ${name}`;
  await postEntry(writing, { kind: 'credit', amount: credit_cents, description, paymentId });
}

function eventOf(
  { customer: { account_id }, context }: Writing,
  { id, update, description }: { id: string; update: PaymentUpdate; description: string },
) {
  const { kind, plan_key, amount_cents, currency, token_amount, receipt_url } = update;
  const bought = { account_id, payment_id: id, description, amount_cents, currency };
  const data = { ...bought, kind, plan_key, token_amount, receipt_url };
  if (update.status === 'failed') return newEvent(paymentFailed, { ...data, reason: update.failure }, context);
  if (update.status !== 'succeeded') return undefined;
  return newEvent(kind === 'subscription' ? invoicePaid : paymentSucceeded, data, context);
}
