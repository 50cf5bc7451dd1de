import type Stripe from 'stripe';
import { ProviderError, type ProviderPaymentMethod, type ProviderSetup } from '../payment-provider.ts';
import { findCustomer } from './customers.ts';
import { idOf, pathId } from './ids.ts';
import { paymentMethodOf } from './objects/payment-method.ts';

export async function listPaymentMethods(stripe: Stripe, customerId: string): Promise<ProviderPaymentMethod[]> {
  const id = pathId(customerId);
  const [customer, methods] = await Promise.all([
    findCustomer(stripe, id, ['subscriptions']),
    stripe.customers.listPaymentMethods(id, { type: 'card', limit: 100 }),
  ]);
  const defaultId = defaultOf(customer);
  return methods.data.map((method) => paymentMethodOf(method, defaultId)).filter((method) => method !== undefined);
}

/**
 * The card that is charged next. A checkout sets the default of its subscription, which overrides that of the
 * customer.
 */
function defaultOf({ subscriptions, invoice_settings }: Stripe.Customer): string | null {
  const own = subscriptions?.data.find((subscription) => subscription.default_payment_method !== null);
  return idOf(own?.default_payment_method ?? invoice_settings.default_payment_method);
}

export async function createSetupIntent(stripe: Stripe, customerId: string, key: string): Promise<ProviderSetup> {
  const params: Stripe.SetupIntentCreateParams = {
    customer: customerId,
    usage: 'off_session',
    allowed_payment_method_types: ['card'],
  };
  const { id, client_secret } = await stripe.setupIntents.create(params, { idempotencyKey: key });
  if (client_secret === null) throw new ProviderError('unavailable', 'Stripe: a setup intent without a client secret');
  return { id, client_secret };
}

export async function getSetup(stripe: Stripe, id: string): Promise<{ id: string; customer_id: string }> {
  const setup = await stripe.setupIntents.retrieve(pathId(id));
  return { id: setup.id, customer_id: idOf(setup.customer) ?? '' };
}

/**
 * Sets the default of the customer and of each subscription, because a checkout gives its subscription a default of
 * its own, which overrides that of the customer.
 */
export async function useSavedCard(stripe: Stripe, setupId: string, key: string): Promise<void> {
  const setup = await stripe.setupIntents.retrieve(pathId(setupId));
  const [customer, default_payment_method] = [idOf(setup.customer), idOf(setup.payment_method)];
  if (setup.status !== 'succeeded' || customer === null || default_payment_method === null) return;
  const settings = { invoice_settings: { default_payment_method } };
  await stripe.customers.update(customer, settings, { idempotencyKey: `${key}-customer` });
  // The list does not contain cancelled subscriptions.
  for await (const subscription of stripe.subscriptions.list({ customer, limit: 100 })) {
    const own = idOf(subscription.default_payment_method);
    if (own === null || own === default_payment_method || subscription.status === 'incomplete_expired') continue;
    const options = { idempotencyKey: `${key}-${subscription.id}` };
    await stripe.subscriptions.update(subscription.id, { default_payment_method }, options);
  }
}

/** Stripe detaches a payment method from any customer, so first check that this customer has it. */
export async function detachPaymentMethod(stripe: Stripe, customerId: string, id: string): Promise<void> {
  const method = await stripe.customers.retrievePaymentMethod(pathId(customerId), pathId(id));
  await stripe.paymentMethods.detach(method.id);
}
