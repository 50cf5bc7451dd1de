import type Stripe from 'stripe';
import type { ProviderInvoice, ProviderInvoiceLine } from '../../payment-provider.ts';
import { idOf } from '../ids.ts';
import { planKeyOf } from './price.ts';
import { customerNotes, dateOf, noteOf, oneOf } from './values.ts';

const REASONS: ReadonlyMap<string | null, ProviderInvoice['reason']> = new Map([
  ['subscription_create', 'create'],
  ['subscription_cycle', 'cycle'],
  ['subscription_update', 'update'],
]);

type Prices = ReadonlyMap<string, Stripe.Price>;

/**
 * Needs an invoice with payments and customer expanded. The prices of its lines are either expanded or given by id in
 * `prices`.
 */
export function invoiceOf(
  invoice: Stripe.Invoice,
  lines: readonly Stripe.InvoiceLineItem[],
  prices: Prices = new Map(),
): ProviderInvoice {
  const subscription = invoice.parent?.subscription_details;
  const priced = lines.filter((line) => line.pricing?.price_details !== undefined);
  const main = mainLine(priced);
  return {
    id: invoice.id,
    customer_id: idOf(invoice.customer) ?? '',
    subscription_id: idOf(subscription?.subscription),
    status: oneOf(invoice.status, ['draft', 'open', 'paid', 'uncollectible', 'void'], 'open'),
    reason: REASONS.get(invoice.billing_reason) ?? 'other',
    amount_paid_cents: invoice.amount_paid,
    total_cents: invoice.total,
    currency: invoice.currency,
    payment_id: paymentIdOf(invoice.payments?.data ?? []),
    receipt_url: invoice.hosted_invoice_url ?? null,
    page_url: invoice.status === 'open' ? (invoice.hosted_invoice_url ?? null) : null,
    plan_key: main ? planOf(main, prices) : '',
    lines: priced.map((line) => lineOf(line, prices)),
    account_id: noteOf('account_id', subscription?.metadata, invoice.metadata, customerNotes(invoice.customer)),
    created_at: dateOf(invoice.created),
  };
}

const lineOf = (line: Stripe.InvoiceLineItem, prices: Prices): ProviderInvoiceLine => {
  return { plan_key: planOf(line, prices), amount_cents: line.amount, proration: isPartial(line) };
};

function planOf({ pricing }: Stripe.InvoiceLineItem, prices: Prices): string {
  const named = pricing?.price_details?.price;
  const price = typeof named === 'string' ? prices.get(named) : named;
  return price ? planKeyOf(price) : '';
}

/**
 * A full period comes before a part of one. Among parts the most expensive wins, because the credit for the former
 * plan is negative.
 */
function mainLine(lines: readonly Stripe.InvoiceLineItem[]): Stripe.InvoiceLineItem | undefined {
  return lines.toSorted((a, b) => Number(isPartial(a)) - Number(isPartial(b)) || b.amount - a.amount)[0];
}

function isPartial({ parent }: Stripe.InvoiceLineItem): boolean {
  return (parent?.subscription_item_details ?? parent?.invoice_item_details)?.proration ?? false;
}

/** The payment that paid the invoice, otherwise the one that is to pay it. */
function paymentIdOf(payments: readonly Stripe.InvoicePayment[]): string | null {
  const best = payments.find(({ status }) => status === 'paid') ?? payments.find((one) => one.is_default);
  return idOf(best?.payment.payment_intent);
}
