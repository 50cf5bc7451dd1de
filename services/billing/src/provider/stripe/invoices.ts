import type Stripe from 'stripe';
import type { ProviderInvoice } from '../payment-provider.ts';
import { idOf, pathId } from './ids.ts';
import { invoiceOf } from './objects/invoice.ts';

export async function getInvoice(stripe: Stripe, id: string): Promise<ProviderInvoice> {
  const [invoice, lines] = await Promise.all([
    stripe.invoices.retrieve(pathId(id), { expand: ['payments', 'customer'] }),
    linesOf(stripe, id),
  ]);
  return invoiceOf(invoice, lines);
}

/** The invoices of a customer, by the ids of the payments that were made or attempted for them. */
export async function customerInvoices(stripe: Stripe, customer: string): Promise<Map<string, ProviderInvoice>> {
  const found = new Map<string, ProviderInvoice>();
  const prices = new Map<string, Stripe.Price>();
  const expand = ['data.payments', 'data.customer'];
  for await (const invoice of stripe.invoices.list({ customer, limit: 100, expand })) {
    const payments = (invoice.payments?.data ?? []).map(({ payment }) => idOf(payment.payment_intent));
    const ids = payments.filter((id) => id !== null);
    if (ids.length === 0) continue;
    const { data, has_more } = invoice.lines;
    const lines = has_more ? await linesOf(stripe, invoice.id) : data;
    // In this list prices are not expanded; a customer has only a few different ones.
    for (const id of lines.map((line) => line.pricing?.price_details?.price))
      if (typeof id === 'string' && !prices.has(id)) prices.set(id, await stripe.prices.retrieve(id));
    const read = invoiceOf(invoice, lines, prices);
    for (const id of ids) found.set(id, read);
  }
  return found;
}

/** Lists the lines separately, because from the invoice the price would be one level deeper than Stripe can expand. */
function linesOf(stripe: Stripe, invoiceId: string): Promise<Stripe.InvoiceLineItem[]> {
  const params = { limit: 100, expand: ['data.pricing.price_details.price'] };
  return stripe.invoices.listLineItems(pathId(invoiceId), params).autoPagingToArray({ limit: 10_000 });
}
