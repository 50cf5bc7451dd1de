import type Stripe from 'stripe';
import type { ProviderPayment } from '../payment-provider.ts';
import { idOf, pathId } from './ids.ts';
import { customerInvoices, getInvoice } from './invoices.ts';
import { paymentOf } from './objects/payment.ts';

export async function getPayment(stripe: Stripe, id: string): Promise<ProviderPayment> {
  const intent = await stripe.paymentIntents.retrieve(pathId(id), { expand: ['latest_charge', 'customer'] });
  return isOfInvoice(intent) ? paymentOfInvoice(stripe, intent) : paymentOf(intent, undefined);
}

/**
 * Makes one request per hundred payments. If invoices are among them, one more per hundred invoices, and one per
 * price.
 */
export async function* listPayments(stripe: Stripe, customerId: string): AsyncGenerator<ProviderPayment> {
  const customer = pathId(customerId);
  const expand = ['data.latest_charge', 'data.customer'];
  let invoices: ReturnType<typeof customerInvoices> | undefined;
  for await (const intent of stripe.paymentIntents.list({ customer, limit: 100, expand })) {
    if (isOfInvoice(intent)) {
      invoices ??= customerInvoices(stripe, customer);
      const invoice = (await invoices).get(intent.id);
      // An invoice that is not in the list is newer than the list, or has very many payments, so it is fetched by
      // itself.
      yield invoice ? paymentOf(intent, invoice) : await paymentOfInvoice(stripe, intent);
    } else yield paymentOf(intent, undefined);
  }
}

/** The payment of a token pack has the plan key in its own metadata. */
const isOfInvoice = ({ metadata }: Stripe.PaymentIntent) => !metadata.plan_key;

async function paymentOfInvoice(stripe: Stripe, intent: Stripe.PaymentIntent): Promise<ProviderPayment> {
  const payment = { type: 'payment_intent' as const, payment_intent: intent.id };
  const invoiceId = idOf((await stripe.invoicePayments.list({ payment, limit: 1 })).data[0]?.invoice);
  return paymentOf(intent, invoiceId === null ? undefined : await getInvoice(stripe, invoiceId));
}
