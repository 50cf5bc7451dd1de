import type Stripe from 'stripe';
import { type PaymentProvider, type ProviderCustomer, ProviderError } from '../payment-provider.ts';
import { pathId } from './ids.ts';

type Newcomer = Parameters<PaymentProvider['createCustomer']>[0];

export async function createCustomer(stripe: Stripe, customer: Newcomer, key: string): Promise<ProviderCustomer> {
  const params = { name: customer.name, metadata: { account_id: customer.accountId } };
  return customerOf(await stripe.customers.create(params, { idempotencyKey: key }));
}

export async function getCustomer(stripe: Stripe, id: string): Promise<ProviderCustomer> {
  return customerOf(await findCustomer(stripe, id));
}

/** Stripe still returns a customer that was deleted. */
export async function findCustomer(stripe: Stripe, id: string, expand: string[] = []): Promise<Stripe.Customer> {
  const customer = await stripe.customers.retrieve(pathId(id), { expand });
  if (customer.deleted) throw new ProviderError('not_found', 'Stripe: the customer was deleted');
  return customer;
}

const customerOf = ({ id, balance }: Stripe.Customer): ProviderCustomer => ({ id, balance_cents: balance });
