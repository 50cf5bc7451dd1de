import { writeCheckout } from '../checkouts/index.ts';
import { setCreditBalance } from '../customers/index.ts';
import { writeDispute } from '../disputes/index.ts';
import { type PaymentRow, writePayment } from '../payments/index.ts';
import {
  type PaymentProvider,
  ProviderError,
  type ProviderInvoice,
  type ProviderObject,
  type ProviderPayment,
} from '../provider/index.ts';
import { writeRefund } from '../refunds/index.ts';
import type { Writing } from '../store.ts';
import { writeSubscription } from '../subscriptions/index.ts';

/** The kinds of provider objects that billing stores. */
export type Kept = Exclude<ProviderObject, 'other' | 'setup' | 'fraud_warning'>;

interface Keeper {
  /** The owner according to the provider: a customer there, or our own id of a checkout. */
  ownerOf(provider: PaymentProvider, id: string): Promise<{ kind: 'customer' | 'reference'; id: string }>;
  /** Fetches the object and stores it. */
  write(writing: Writing, provider: PaymentProvider, id: string): Promise<unknown>;
}

export const keepers: Readonly<Record<Kept, Keeper>> = {
  customer: {
    ownerOf: async (_provider, id) => ({ kind: 'customer', id }),
    write: keepBalance,
  },
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
  dispute: {
    async ownerOf(provider, id) {
      const { payment_id } = await provider.getDispute(id);
      return ofCustomer(await provider.getPayment(payment_id));
    },
    async write(writing, provider, id) {
      const dispute = await provider.getDispute(id);
      const payment = await keepPayment(writing, provider, dispute.payment_id);
      if (payment) await writeDispute(writing, dispute, payment);
    },
  },
  checkout: {
    ownerOf: async (provider, id) => ({ kind: 'reference', id: (await provider.getCheckout(id)).reference }),
    async write(writing, provider, id) {
      const checkout = await provider.getCheckout(id);
      await writeCheckout(writing, checkout);
      // The payment and the subscription must be stored as soon as the checkout is shown as complete.
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
  const invoice = await provider.getInvoice(payment.invoice_id);
  return writePayment(writing, { invoice, payment: await payerOf(provider, invoice, payment) });
}

/** The payment that pays an invoice, or is to pay it. An earlier attempt with another payment is ignored. */
async function payerOf(
  provider: PaymentProvider,
  { payment_id }: ProviderInvoice,
  known?: ProviderPayment,
): Promise<ProviderPayment | undefined> {
  if (payment_id === null || payment_id === known?.id) return payment_id === null ? undefined : known;
  return provider.getPayment(payment_id);
}

async function keepInvoice(writing: Writing, provider: PaymentProvider, id: string): Promise<void> {
  const invoice = await provider.getInvoice(id);
  if (!isTheirs(writing, invoice)) return;
  await writePayment(writing, { invoice, payment: await payerOf(provider, invoice) });
  await keepBalance(writing, provider, invoice.customer_id);
}

async function keepBalance({ tx, customer }: Writing, provider: PaymentProvider, id: string): Promise<void> {
  try {
    const { balance_cents } = await provider.getCustomer(id);
    await setCreditBalance(tx, customer.account_id, -balance_cents);
  } catch (error) {
    // A customer that was deleted at the provider has no balance.
    if (!(error instanceof ProviderError && error.kind === 'not_found')) throw error;
  }
}

const ofCustomer = ({ customer_id }: { readonly customer_id: string }) =>
  ({ kind: 'customer', id: customer_id }) as const;

const isTheirs = ({ customer }: Writing, { customer_id }: { readonly customer_id: string }) =>
  customer.provider_customer_id === customer_id;
