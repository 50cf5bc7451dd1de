import type { ProviderEvent, ProviderObject } from '../../payment-provider.ts';
import { dateOf } from './values.ts';

/**
 * The fields that are read. They are the same in every API version, because the object itself is fetched again in
 * ours.
 */
export interface StripeEvent {
  readonly id: string;
  readonly type: string;
  readonly created: number;
  readonly data: { readonly object: unknown };
}

/** The kind for each type of object, and the field with the id: the object's own, or that of its parent. */
const KINDS: ReadonlyMap<unknown, readonly [kind: ProviderObject, field: string]> = new Map([
  ['customer', ['customer', 'id']],
  ['checkout.session', ['checkout', 'id']],
  ['payment_intent', ['payment', 'id']],
  ['charge', ['payment', 'payment_intent']],
  ['invoice', ['invoice', 'id']],
  ['invoice_payment', ['invoice', 'invoice']],
  ['subscription', ['subscription', 'id']],
  ['refund', ['refund', 'id']],
  ['dispute', ['dispute', 'id']],
  ['radar.early_fraud_warning', ['fraud_warning', 'id']],
  ['setup_intent', ['setup', 'id']],
]);

export function eventOf({ id, type, created, data }: StripeEvent): ProviderEvent {
  return { id, type, object: objectOf(data.object as Readonly<Record<string, unknown>>), created_at: dateOf(created) };
}

function objectOf(object: Readonly<Record<string, unknown>>): ProviderEvent['object'] {
  const [kind, field] = KINDS.get(object.object) ?? ['other', 'id'];
  const id = object[field];
  if (typeof id === 'string') return { kind, id };
  // A preview of an invoice, or a charge without a payment, which cannot be fetched.
  return { kind: 'other', id: typeof object.id === 'string' ? object.id : '' };
}
