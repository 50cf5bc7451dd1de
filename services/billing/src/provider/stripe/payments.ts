import type Stripe from 'stripe';
import type { ProviderPayment } from '../payment-provider.ts';
import { idOf, pathId } from './ids.ts';
import { customerInvoices, getInvoice } from './invoices.ts';
import { paymentOf } from './objects/payment.ts';

export async function getPayment(stripe: Stripe, id: string): Promise<ProviderPayment> {
  const intent = await stripe.paymentIntents.retrieve(pathId(id), { expand: ['latest_charge', 'customer'] });
  return isOfInvoice(intent) ? paymentOfInvoice(stripe, intent) : paymentOf(intent, undefined);
}

/** A request for every hundred payments; with invoices among them one for every hundred of these, and one a price. */
export async function* listPayments(stripe: Stripe, customerId: string): AsyncGenerator<ProviderPayment> {
  const customer = pathId(customerId);
  const expand = ['data.latest_charge', 'data.customer'];
  let invoices: ReturnType<typeof customerInvoices> | undefined;
  for await (const intent of stripe.paymentIntents.list({ customer, limit: 100, expand })) {
    if (isOfInvoice(intent)) {
      invoices ??= customerInvoices(stripe, customer);
      const invoice = (await invoices).get(intent.id);
      // Where it is not among them, its invoice came after they were listed, or has had very many payments.
      yield invoice ? paymentOf(intent, invoice) : await paymentOfInvoice(stripe, intent);
    } else yield paymentOf(intent, undefined);
  }
}

/** What a checkout of a pack made says itself what it is for. */
const isOfInvoice = ({ metadata }: Stripe.PaymentIntent) => !metadata.plan_key;

async function paymentOfInvoice(stripe: Stripe, intent: Stripe.PaymentIntent): Promise<ProviderPayment> {
  const payment = { type: 'payment_intent' as const, payment_intent: intent.id };
  const invoiceId = idOf((await stripe.invoicePayments.list({ payment, limit: 1 })).data[0]?.invoice);
  return paymentOf(intent, invoiceId === null ? undefined : await getInvoice(stripe, invoiceId));
}
