import type Stripe from 'stripe';
import type { ProviderEvent } from '../payment-provider.ts';
import { asked } from './errors.ts';
import { eventOf } from './objects/event.ts';

/** Age of a signature, in seconds, from which on it may be somebody's replay. */
const TOLERANCE_S = 300;

export interface WebhookOptions {
  /** Several, while one is being replaced. */
  readonly secrets: readonly string[];
  readonly now: () => Date;
}

/** Says nothing of why one is not taken: whoever sent it need not know. */
export function createWebhookReader(stripe: Stripe, { secrets, now }: WebhookOptions) {
  const verified = (body: Buffer, signature: string, secret: string): Stripe.Event | undefined => {
    try {
      const event = stripe.webhooks.constructEvent(body, signature, secret, TOLERANCE_S, undefined, now().getTime());
      // Whoever signs may still send what is no event.
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

/** Stripe lists the newest first, for 30 days: so all are fetched, and kept as the little they say. */
export async function* listEvents(stripe: Stripe, since: Date): AsyncGenerator<ProviderEvent> {
  const events: ProviderEvent[] = [];
  await asked(async () => {
    const created = { gte: Math.floor(since.getTime() / 1000) };
    for await (const event of stripe.events.list({ created, limit: 100 })) events.push(eventOf(event));
  });
  yield* events.reverse();
}
