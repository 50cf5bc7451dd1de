import type Stripe from 'stripe';
import type { ProviderEvent } from '../payment-provider.ts';
import { callStripe } from './errors.ts';
import { eventOf } from './objects/event.ts';

/** In seconds: an older signature may be a replay. */
const TOLERANCE_S = 300;

export interface WebhookOptions {
  /** There are several secrets while one is being rotated. */
  readonly secrets: readonly string[];
  readonly now: () => Date;
}

/** Does not say why a notification is rejected, because the sender need not know. */
export function createWebhookReader(stripe: Stripe, { secrets, now }: WebhookOptions) {
  const verified = (body: Buffer, signature: string, secret: string): Stripe.Event | undefined => {
    try {
      const event = stripe.webhooks.constructEvent(body, signature, secret, TOLERANCE_S, undefined, now().getTime());
      // A correctly signed body may still not be an event.
      return event?.object === 'event' && event.data?.object ? event : undefined;
    } catch {
      return undefined;
    }
  };
  return (body: Buffer, signature: string | undefined): ProviderEvent | undefined => {
    if (signature === undefined) return undefined;
    for (const secret of secrets) {
      const event = verified(body, signature, secret);
      if (event !== undefined) return eventOf(event);
    }
    return undefined;
  };
}

/**
 * Stripe lists events newest first, and for 30 days. All of them are fetched and reversed; only a few fields of each
 * are kept.
 */
export async function* listEvents(stripe: Stripe, since: Date): AsyncGenerator<ProviderEvent> {
  const events: ProviderEvent[] = [];
  await callStripe(async () => {
    const created = { gte: Math.floor(since.getTime() / 1000) };
    for await (const event of stripe.events.list({ created, limit: 100 })) events.push(eventOf(event));
  });
  yield* events.reverse();
}
