import { Problem, receiveStripeWebhook } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { PaymentProvider } from '../provider/index.ts';
import type { BillingDatabase } from '../store.ts';
import { insertEvent } from './provider-event.store.ts';

/** The notification is accepted as soon as it is stored. A job fetches the object that it refers to. */
export const receiveStripeWebhookEndpoint = (deps: {
  database: BillingDatabase;
  provider: PaymentProvider;
  clock: Clock;
  wake: () => void;
}) =>
  implement(receiveStripeWebhook, async ({ bytes, headers, request }) => {
    const event = deps.provider.readWebhook(bytes, headers['stripe-signature']);
    if (!event)
      throw new Problem(
        'validation-error',
        'Stripe-Signature: does not sign this body, or is too old, or the body is no notification.',
      );
    if (await insertEvent(deps.database.sql, event, deps.clock.now(), request.traceparent)) deps.wake();
  });
