import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type {
  CatalogueEntry,
  PaymentProvider,
  ProviderCheckout,
  ProviderEvent,
  ProviderPayment,
} from '../src/provider/payment-provider.ts';

/** What a driver supplies to be tested. */
export interface OpenProvider {
  readonly provider: PaymentProvider;
  /** The accepted secrets, newest first; at least two. */
  readonly secrets: readonly string[];
  /** Its time. */
  now(): Date;
  /** Fills in a checkout's page as a customer does; resolves when the provider is done with it. */
  pay(
    checkout: ProviderCheckout,
    card: 'succeeds' | 'declined' | 'disputed' | 'warned' | 'authenticates_always',
  ): Promise<void>;
  /** Confirms a payment as the holder of the card does, on the page where it waits. */
  confirm(page: string | null): Promise<void>;
  /** Decides the dispute of a payment, as its bank does. */
  decide(payment: ProviderPayment, outcome: 'won' | 'lost'): Promise<void>;
  /** Saves a card under a client secret, as a browser does. */
  saveCard(clientSecret: string, card: 'succeeds' | 'fails_later'): Promise<void>;
  close(): Promise<void>;
}

export const prices = {
  pack: { plan_key: 'pack', name: 'A pack of tokens', amount_cents: 900, currency: 'usd', interval: null },
  small: { plan_key: 'small', name: 'Small', amount_cents: 4_900, currency: 'usd', interval: 'month' },
  large: { plan_key: 'large', name: 'Large', amount_cents: 19_900, currency: 'usd', interval: 'month' },
  yearly: { plan_key: 'yearly', name: 'A year of large', amount_cents: 199_000, currency: 'usd', interval: 'year' },
} as const satisfies Record<string, CatalogueEntry>;

export const newKey = () => randomUUID();

export async function newCustomer(provider: PaymentProvider) {
  const accountId = `acc_${randomUUID()}`;
  const { id } = await provider.createCustomer({ accountId, name: 'Acme' }, newKey());
  return { id, accountId };
}

export type Customer = Awaited<ReturnType<typeof newCustomer>>;

export function checkoutOf(customer: Customer, price: CatalogueEntry) {
  return {
    customerId: customer.id,
    mode: price.interval === null ? ('payment' as const) : ('subscription' as const),
    price,
    returnUrl: 'https://app.example/billing?tab=plans',
    reference: `cs_${randomUUID()}`,
    accountId: customer.accountId,
  };
}

export const refusal = (kind: string) => expect.objectContaining({ kind });

/** A customer who has paid a price, with the id of the payment or the subscription. */
export async function buy(
  { provider, pay }: OpenProvider,
  price: CatalogueEntry,
  card: Parameters<OpenProvider['pay']>[1] = 'succeeds',
) {
  const customer = await newCustomer(provider);
  const { id } = await provider.createCheckout(checkoutOf(customer, price), newKey());
  await pay(await provider.getCheckout(id), card);
  const { payment_id, subscription_id } = await provider.getCheckout(id);
  return { customer, paymentId: payment_id ?? '', subscriptionId: subscription_id ?? '' };
}

export async function eventsOf({ provider }: Pick<OpenProvider, 'provider'>, since: Date): Promise<ProviderEvent[]> {
  const events: ProviderEvent[] = [];
  for await (const event of provider.listEvents(since)) events.push(event);
  return events;
}

export const refundOf = (paymentId: string, amountCents: number) => {
  return { paymentId, amountCents, reason: 'requested_by_customer' as const, reference: `ref_${randomUUID()}` };
};

/** The invoices of a customer, oldest first, each once. */
export async function invoicesOf(opened: Pick<OpenProvider, 'provider'>, since: Date, customer: Customer) {
  const invoiceEvents = (await eventsOf(opened, since)).filter(({ object }) => object.kind === 'invoice');
  const ids = new Set(invoiceEvents.map(({ object }) => object.id));
  const invoices = await Promise.all([...ids].map((id) => opened.provider.getInvoice(id)));
  return invoices.filter(({ customer_id }) => customer_id === customer.id);
}

export async function lastInvoice(
  opened: Pick<OpenProvider, 'provider'>,
  since: Date,
  customer: Customer,
  reason = 'create',
) {
  const found = (await invoicesOf(opened, since, customer)).findLast((invoice) => invoice.reason === reason);
  if (!found) throw new Error(`No invoice of reason ${reason}`);
  return found;
}
