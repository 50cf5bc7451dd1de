import { ProviderError } from '../payment-provider.ts';
import type { Behaviour, Dispute, FraudWarning, PaymentIntent } from './objects.ts';
import type { Simulation } from './simulation.ts';

/** What the bank of a test card does after it has paid. */
export function afterPayment(simulation: Simulation, { id }: PaymentIntent, behaviour: Behaviour): void {
  if (behaviour === 'disputed') openDispute(simulation, id);
  if (behaviour === 'warned') warnOfFraud(simulation, id);
}

/** The bank asks for what is left of a payment. There is one dispute of a payment at most. */
export function openDispute(simulation: Simulation, paymentId: string): Dispute {
  const { store } = simulation;
  const payment = store.get('payment_intent', paymentId);
  const amount = payment.amount - payment.amount_refunded;
  if (payment.status !== 'succeeded' || payment.disputed || amount <= 0)
    throw new ProviderError('refused', 'There is nothing to dispute.');
  store.put<PaymentIntent>({ ...payment, disputed: true });
  const dispute = store.put<Dispute>({
    ...simulation.begin('dispute'),
    payment_intent: payment.id,
    charge: payment.latest_charge,
    amount,
    currency: payment.currency,
    reason: 'fraudulent',
    status: 'needs_response',
  });
  simulation.emit('charge.dispute.created', dispute);
  return dispute;
}

/** The bank decides. What it has decided stays so. */
export function closeDispute(simulation: Simulation, id: string, status: 'won' | 'lost'): Dispute {
  const dispute = simulation.store.get('dispute', id);
  if (dispute.status !== 'needs_response') return dispute;
  const closed = simulation.store.put<Dispute>({ ...dispute, status });
  simulation.emit('charge.dispute.closed', closed);
  return closed;
}

export function warnOfFraud(simulation: Simulation, paymentId: string): FraudWarning {
  const payment = simulation.store.get('payment_intent', paymentId);
  if (payment.status !== 'succeeded') throw new ProviderError('refused', 'There is nothing to warn of.');
  const warning = simulation.store.put<FraudWarning>({
    ...simulation.begin('radar.early_fraud_warning'),
    payment_intent: payment.id,
    charge: payment.latest_charge,
    actionable: true,
    fraud_type: 'unauthorized_use_of_card',
  });
  simulation.emit('radar.early_fraud_warning.created', warning);
  return warning;
}

export const disputeOn = ({ store }: Simulation, paymentId: string): Dispute | undefined =>
  store.ownedBy('dispute', paymentId).at(-1);
