import type Stripe from 'stripe';
import type { NewCheckout, ProviderCheckout } from '../payment-provider.ts';
import { pathId } from './ids.ts';
import { checkoutOf } from './objects/checkout.ts';
import { priceIdOf } from './prices.ts';

/**
 * `packMethods` are what a token pack may be paid with. A subscription takes cards only, because listing payment methods and
 * following an upgrade support nothing else.
 */
export async function createCheckout(
  stripe: Stripe,
  checkout: NewCheckout,
  { key, packMethods }: { readonly key: string; readonly packMethods: readonly string[] },
): Promise<ProviderCheckout> {
  const { customerId, mode, price, returnUrl, reference, accountId } = checkout;
  const metadata = { account_id: accountId, reference, plan_key: price.plan_key };
  const session = await stripe.checkout.sessions.create(
    {
      customer: customerId,
      mode,
      allowed_payment_method_types: mode === 'payment' ? ([...packMethods] as Method[]) : ['card'],
      line_items: [{ price: await priceIdOf(stripe, price), quantity: 1 }],
      success_url: returnUrl,
      cancel_url: returnUrl,
      client_reference_id: reference,
      metadata,
      // Stripe does not copy the metadata of a session to the objects that result from it.
      ...(mode === 'payment' ? { payment_intent_data: { metadata } } : { subscription_data: { metadata } }),
    },
    { idempotencyKey: key },
  );
  return checkoutOf(session);
}

type Method = Stripe.Checkout.SessionCreateParams.AllowedPaymentMethodType;

export async function expireCheckout(stripe: Stripe, id: string): Promise<void> {
  await stripe.checkout.sessions.expire(pathId(id));
}

export async function getCheckout(stripe: Stripe, id: string): Promise<ProviderCheckout> {
  return checkoutOf(await stripe.checkout.sessions.retrieve(pathId(id), { expand: ['payment_intent'] }));
}
