import { asksHolder, noCard, type Refusal, refusalOf } from './cards.ts';
import { afterPayment } from './disputes.ts';
import { type Bought, newObjectId, type PaymentIntent, type PaymentMethod } from './objects.ts';
import type { Simulation } from './simulation.ts';

export interface NewPayment {
  readonly customer: string;
  readonly amount: number;
  readonly currency: string;
  readonly invoice: string | null;
  readonly metadata: Bought;
}

/** `page` means that the card holder is present. */
export type Moment = 'page' | 'later';

/** Charges a card, for a new payment or for an earlier one that has failed. */
export function charge(
  simulation: Simulation,
  requested: NewPayment,
  method: PaymentMethod | undefined,
  moment: Moment,
  earlier?: PaymentIntent,
): PaymentIntent {
  const refusal = method ? refusalOf(method.metadata.behaviour, moment) : noCard;
  const payment = { ...(earlier ?? newPayment(simulation, requested)), payment_method: method?.id ?? null };
  if (refusal) return failPayment(simulation, payment, refusal);
  if (moment === 'later' && method && asksHolder(method.metadata.behaviour, moment))
    return awaitHolder(simulation, requested, payment);
  const paid = succeed(simulation, payment);
  if (method) afterPayment(simulation, paid, method.metadata.behaviour);
  return paid;
}

export function succeed(simulation: Simulation, payment: PaymentIntent): PaymentIntent {
  const paid = simulation.store.put<PaymentIntent>({ ...payment, status: 'succeeded', last_payment_error: null });
  simulation.emit('payment_intent.succeeded', paid);
  return paid;
}

/** Creates a payment that waits for the holder's 3-D Secure confirmation. */
export const awaitHolder = (simulation: Simulation, requested: NewPayment, earlier?: PaymentIntent): PaymentIntent =>
  simulation.store.put<PaymentIntent>({
    ...(earlier ?? newPayment(simulation, requested)),
    status: 'requires_action',
    last_payment_error: null,
  });

export function failPayment(simulation: Simulation, payment: PaymentIntent, refusal: Refusal): PaymentIntent {
  const failed = simulation.store.put<PaymentIntent>({
    ...payment,
    status: 'requires_payment_method',
    last_payment_error: refusal,
  });
  simulation.emit('payment_intent.payment_failed', failed);
  return failed;
}

export function newPayment(simulation: Simulation, requested: NewPayment): PaymentIntent {
  return {
    ...simulation.begin('payment_intent'),
    ...requested,
    status: 'requires_payment_method',
    amount_refunded: 0,
    payment_method: null,
    latest_charge: newObjectId('charge'),
    last_payment_error: null,
  };
}
