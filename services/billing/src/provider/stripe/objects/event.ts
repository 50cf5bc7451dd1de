import type { ProviderEvent, ProviderObject } from '../../payment-provider.ts';
import { dateOf } from './values.ts';

/** As far as it is read; of any API version, since what it is about is fetched in ours. */
export interface StripeEvent {
  readonly id: string;
  readonly type: string;
  readonly created: number;
  readonly data: { readonly object: unknown };
}

/** By what the object calls itself; its own id, or that of what it belongs to. */
const KINDS: ReadonlyMap<unknown, readonly [kind: ProviderObject, field: string]> = new Map([
  ['customer', ['customer', 'id']],
  ['checkout.session', ['checkout', 'id']],
  ['payment_intent', ['payment', 'id']],
  ['charge', ['payment', 'payment_intent']],
  ['invoice', ['invoice', 'id']],
  ['invoice_payment', ['invoice', 'invoice']],
  ['subscription', ['subscription', 'id']],
  ['refund', ['refund', 'id']],
  ['setup_intent', ['setup', 'id']],
]);

export function eventOf({ id, type, created, data }: StripeEvent): ProviderEvent {
  return { id, type, object: objectOf(data.object as Readonly<Record<string, unknown>>), created_at: dateOf(created) };
}

function objectOf(object: Readonly<Record<string, unknown>>): ProviderEvent['object'] {
  const [kind, field] = KINDS.get(object.object) ?? ['other', 'id'];
  const id = object[field];
  if (typeof id === 'string') return { kind, id };
  // An invoice that is only foreseen, or a charge without a payment: nothing that could be fetched.
  return { kind: 'other', id: typeof object.id === 'string' ? object.id : '' };
}
