import type Stripe from 'stripe';
import type { ProviderInvoice, ProviderPayment } from '../payment-provider.ts';
import { idOf, pathId } from './ids.ts';
import { invoiceOf } from './objects/invoice.ts';
import { paymentOf } from './objects/payment.ts';

export async function getPayment(stripe: Stripe, id: string): Promise<ProviderPayment> {
  const intent = await stripe.paymentIntents.retrieve(pathId(id), { expand: ['latest_charge', 'customer'] });
  // What a checkout of a pack made says itself what it is for.
  if (intent.metadata.plan_key) return paymentOf(intent, undefined);
  const payment = { type: 'payment_intent' as const, payment_intent: intent.id };
  const invoiceId = idOf((await stripe.invoicePayments.list({ payment, limit: 1 })).data[0]?.invoice);
  return paymentOf(intent, invoiceId === null ? undefined : await getInvoice(stripe, invoiceId));
}

export async function getInvoice(stripe: Stripe, id: string): Promise<ProviderInvoice> {
  const [invoice, lines] = await Promise.all([
    stripe.invoices.retrieve(pathId(id), { expand: ['payments', 'customer'] }),
    // From the invoice itself a price would be one level deeper than Stripe expands.
    stripe.invoices.listLineItems(pathId(id), { limit: 100, expand: ['data.pricing.price_details.price'] }),
  ]);
  return invoiceOf(invoice, lines.data);
}
