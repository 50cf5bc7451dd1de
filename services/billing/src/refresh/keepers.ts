import { writeCheckout } from '../checkouts/index.ts';
import { setCreditBalance } from '../customers/index.ts';
import { type PaymentRow, writePayment } from '../payments/index.ts';
import type { PaymentProvider, ProviderObject } from '../provider/index.ts';
import { writeRefund } from '../refunds/index.ts';
import type { Writing } from '../store.ts';
import { writeSubscription } from '../subscriptions/index.ts';

/** What is kept here of the provider's objects. */
export type Kept = Exclude<ProviderObject, 'other' | 'setup'>;

interface Keeper {
  /** Whose it is, by the provider's word: the id of a customer there, or our own of a checkout. */
  ownerOf(provider: PaymentProvider, id: string): Promise<{ by: 'customer' | 'reference'; id: string }>;
  /** Fetches it and writes it. */
  write(writing: Writing, provider: PaymentProvider, id: string): Promise<unknown>;
}

export const keepers: Readonly<Record<Kept, Keeper>> = {
  payment: {
    ownerOf: async (provider, id) => ofCustomer(await provider.getPayment(id)),
    write: keepPayment,
  },
  invoice: {
    ownerOf: async (provider, id) => ofCustomer(await provider.getInvoice(id)),
    write: keepInvoice,
  },
  subscription: {
    ownerOf: async (provider, id) => ofCustomer(await provider.getSubscription(id)),
    async write(writing, provider, id) {
      const subscription = await provider.getSubscription(id);
      if (isTheirs(writing, subscription)) await writeSubscription(writing, subscription);
    },
  },
  refund: {
    async ownerOf(provider, id) {
      const { payment_id } = await provider.getRefund(id);
      return ofCustomer(await provider.getPayment(payment_id));
    },
    async write(writing, provider, id) {
      const refund = await provider.getRefund(id);
      const payment = await keepPayment(writing, provider, refund.payment_id);
      if (payment) await writeRefund(writing, refund, payment);
    },
  },
  checkout: {
    ownerOf: async (provider, id) => ({ by: 'reference', id: (await provider.getCheckout(id)).reference }),
    async write(writing, provider, id) {
      const checkout = await provider.getCheckout(id);
      await writeCheckout(writing, checkout);
      // What has come of it is there as soon as it is said to be complete.
      if (checkout.payment_id !== null) await keepPayment(writing, provider, checkout.payment_id);
      if (checkout.subscription_id !== null)
        await keepers.subscription.write(writing, provider, checkout.subscription_id);
    },
  },
};

async function keepPayment(writing: Writing, provider: PaymentProvider, id: string): Promise<PaymentRow | undefined> {
  const payment = await provider.getPayment(id);
  if (!isTheirs(writing, payment)) return undefined;
  if (payment.invoice_id === null) return writePayment(writing, { payment });
  return writePayment(writing, { payment, invoice: await provider.getInvoice(payment.invoice_id) });
}

async function keepInvoice(writing: Writing, provider: PaymentProvider, id: string): Promise<void> {
  const invoice = await provider.getInvoice(id);
  if (!isTheirs(writing, invoice)) return;
  const payment = invoice.payment_id === null ? undefined : await provider.getPayment(invoice.payment_id);
  await writePayment(writing, { payment, invoice });
  const { balance_cents } = await provider.getCustomer(invoice.customer_id);
  await setCreditBalance(writing.tx, writing.customer.account_id, -balance_cents);
}

const ofCustomer = ({ customer_id }: { readonly customer_id: string }) =>
  ({ by: 'customer', id: customer_id }) as const;

const isTheirs = ({ customer }: Writing, { customer_id }: { readonly customer_id: string }) =>
  customer.provider_customer_id === customer_id;
