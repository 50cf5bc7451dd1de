import Stripe from 'stripe';
import type { Progress, ProviderEvent } from '../payment-provider.ts';
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

/** The notifications that are acted on, in as many lists as Stripe needs, which takes at most twenty types. */
const LISTS: readonly (readonly string[])[] = [
  [
    ...['completed', 'expired', 'async_payment_succeeded', 'async_payment_failed'].map(
      (what) => `checkout.session.${what}`,
    ),
    ...['succeeded', 'payment_failed', 'canceled', 'requires_action'].map((what) => `payment_intent.${what}`),
    ...['paid', 'payment_failed', 'payment_action_required', 'voided', 'marked_uncollectible'].map(
      (what) => `invoice.${what}`,
    ),
  ],
  [
    'customer.updated',
    ...['created', 'updated', 'deleted', 'pending_update_applied', 'pending_update_expired'].map(
      (what) => `customer.subscription.${what}`,
    ),
    ...['refunded', 'dispute.created', 'dispute.updated', 'dispute.closed'].map((what) => `charge.${what}`),
    ...['created', 'updated', 'failed'].map((what) => `refund.${what}`),
    'radar.early_fraud_warning.created',
    'setup_intent.succeeded',
  ],
];
const PAGE = 100;

/**
 * Stripe lists events newest first, and for 30 days. A cursor is the number of a list and the last event that was read of it.
 * If that event has left the list, its list is read from the beginning.
 */
export async function* listEvents(stripe: Stripe, since: Date, progress?: Progress): AsyncGenerator<ProviderEvent> {
  const created = { gte: Math.floor(since.getTime() / 1000) };
  const [list = '0', last = ''] = progress?.from?.split(' ') ?? [];
  let after: string | undefined = last || undefined;
  for (let n = Number(list); n < LISTS.length; n++) {
    for (let more = true; more; ) {
      const page = await pageOf(stripe, { created, types: [...(LISTS[n] ?? [])], limit: PAGE }, after);
      for (const event of page.data) yield eventOf(event);
      after = page.data.at(-1)?.id ?? after;
      more = page.has_more;
      if (more) await progress?.passed(`${n} ${after}`);
    }
    after = undefined;
    if (n + 1 < LISTS.length) await progress?.passed(`${n + 1} `);
  }
}

async function pageOf(stripe: Stripe, params: Stripe.EventListParams, after: string | undefined) {
  try {
    return await stripe.events.list({ ...params, ...(after !== undefined && { starting_after: after }) });
  } catch (error) {
    const isGone = after !== undefined && error instanceof Stripe.errors.StripeInvalidRequestError;
    if (!isGone) throw error;
    return stripe.events.list(params);
  }
}
