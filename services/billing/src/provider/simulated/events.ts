import type { ProviderEvent, ProviderObject } from '../payment-provider.ts';
import { newObjectId, type PaymentIntent, type SimulatedObject } from './objects.ts';
import type { SimulatedStore } from './store.ts';

export type EventType =
  | 'checkout.session.completed'
  | 'checkout.session.async_payment_succeeded'
  | 'checkout.session.async_payment_failed'
  | 'checkout.session.expired'
  | 'payment_intent.succeeded'
  | 'payment_intent.payment_failed'
  | 'payment_intent.canceled'
  | 'invoice.paid'
  | 'invoice.payment_failed'
  | 'invoice.payment_action_required'
  | 'invoice.voided'
  | 'customer.updated'
  | 'customer.subscription.created'
  | 'customer.subscription.updated'
  | 'customer.subscription.deleted'
  | 'customer.subscription.pending_update_applied'
  | 'customer.subscription.pending_update_expired'
  | 'charge.refunded'
  | 'charge.dispute.created'
  | 'charge.dispute.closed'
  | 'radar.early_fraud_warning.created'
  | 'refund.updated'
  | 'setup_intent.succeeded';

/** Stripe reports refunds on the charge, which is stored as a part of its payment here. */
export interface Charge {
  readonly id: string;
  readonly object: 'charge';
  readonly payment_intent: string;
  readonly amount: number;
  readonly amount_refunded: number;
  readonly refunded: boolean;
}

export const chargeOf = (payment: PaymentIntent): Charge => {
  const { amount, amount_refunded } = payment;
  return {
    id: payment.latest_charge,
    object: 'charge',
    payment_intent: payment.id,
    amount,
    amount_refunded,
    refunded: amount_refunded === amount,
  };
};

const apiVersion = '2026-10-28.endive';

/** Stores a notification, in the transaction of its cause. */
export function emit(store: SimulatedStore, now: number, type: EventType, object: SimulatedObject | Charge): void {
  const id = newObjectId('event');
  const event = { id, object: 'event', api_version: apiVersion, created: now, livemode: false, type, data: { object } };
  store.appendEvent(id, now, JSON.stringify(event));
}

const kinds: Readonly<Record<string, ProviderObject>> = {
  customer: 'customer',
  'checkout.session': 'checkout',
  payment_intent: 'payment',
  charge: 'payment',
  invoice: 'invoice',
  subscription: 'subscription',
  refund: 'refund',
  dispute: 'dispute',
  'radar.early_fraud_warning': 'fraud_warning',
  setup_intent: 'setup',
};

/** Parses a notification in Stripe's format. Returns undefined when it is not one. */
export function readEvent(body: string): ProviderEvent | undefined {
  const event = fieldsOf(parsed(body));
  const object = fieldsOf(fieldsOf(event?.data)?.object);
  const { id, type, created } = event ?? {};
  // A notification about a charge refers to its payment.
  const objectId = object?.object === 'charge' ? object.payment_intent : object?.id;
  if (typeof id !== 'string' || typeof type !== 'string' || typeof created !== 'number') return undefined;
  const kind = kinds[String(object?.object)];
  const known = kind !== undefined && typeof objectId === 'string';
  return {
    id,
    type,
    object: known ? { kind, id: objectId } : { kind: 'other', id: typeof objectId === 'string' ? objectId : '' },
    created_at: new Date(created * 1000),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const fieldsOf = (value: unknown) =>
  value !== null && typeof value === 'object' ? (value as Readonly<Record<string, unknown>>) : undefined;
