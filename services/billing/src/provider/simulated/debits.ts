import type { GivenCard } from './cards.ts';
import { newMethod } from './methods.ts';
import type { Behaviour, CheckoutSession, PaymentIntent } from './objects.ts';
import { failPayment, type NewPayment, newPayment, succeed } from './payments.ts';
import type { Simulation } from './simulation.ts';

const days = 3 * 86_400;

export const isLate = (behaviour: Behaviour) => behaviour === 'pays_late' || behaviour === 'fails_late';

/** Asks a bank account for the money, which arrives after three days, or not. The page is complete at once. */
export function debit(
  simulation: Simulation,
  session: CheckoutSession,
  requested: NewPayment,
  card: GivenCard,
): { readonly outcome: 'paid' } {
  const { store } = simulation;
  const earlier = session.payment_intent === null ? undefined : store.get('payment_intent', session.payment_intent);
  const payment = store.put<PaymentIntent>({
    ...(earlier ?? newPayment(simulation, requested)),
    payment_method: newMethod(simulation, card).id,
    status: 'processing',
    last_payment_error: null,
    arrives_at: simulation.now() + days,
  });
  const finished = { ...session, payment_intent: payment.id, pending_method: null };
  const completed = store.put<CheckoutSession>({ ...finished, status: 'complete', payment_status: 'unpaid' });
  simulation.emit('checkout.session.completed', completed);
  return { outcome: 'paid' };
}

/** The money of a debit has arrived, or the bank says that there is none. */
export function arrive(simulation: Simulation, payment: PaymentIntent): void {
  const { store } = simulation;
  const method = payment.payment_method === null ? undefined : store.get('payment_method', payment.payment_method);
  const paid = method?.metadata.behaviour === 'pays_late';
  if (paid) succeed(simulation, payment);
  else failPayment(simulation, payment, { code: 'debit_not_authorized', message: 'Your bank did not pay.' });
  const session = store.ownedBy('checkout.session', payment.customer).find((one) => one.payment_intent === payment.id);
  if (!session) return;
  const settled = store.put<CheckoutSession>({ ...session, payment_status: paid ? 'paid' : 'failed' });
  simulation.emit(`checkout.session.async_payment_${paid ? 'succeeded' : 'failed'}`, settled);
}
