import { notAuthenticated } from './cards.ts';
import { settleInvoice } from './invoices.ts';
import type { Invoice, PaymentIntent, Subscription } from './objects.ts';
import type { Paying } from './paying.ts';
import { failPayment, succeed } from './payments.ts';
import type { Simulation } from './simulation.ts';

/** The payment of a subscription's open invoice that waits for the holder of the card. A first payment waits on its own page. */
export function waitingPayment({ store }: Simulation, invoice: Invoice): PaymentIntent | undefined {
  if (invoice.status !== 'open' || invoice.payment_intent === null || invoice.subscription === null) return undefined;
  const payment = store.get('payment_intent', invoice.payment_intent);
  return payment.status === 'requires_action' ? payment : undefined;
}

/** The holder's response on the page of an invoice. A payment that is confirmed takes effect once. */
export function answerOnInvoice(simulation: Simulation, id: string, isThem: boolean): Paying {
  return simulation.store.transaction(() => {
    const invoice = simulation.store.get('invoice', id);
    const payment = waitingPayment(simulation, invoice);
    if (!payment) return { outcome: 'closed' };
    if (!isThem) {
      failPayment(simulation, payment, notAuthenticated);
      return { outcome: 'declined', why: notAuthenticated.message };
    }
    succeed(simulation, payment);
    settleInvoice(simulation, invoice, { fromBalance: invoice.total - payment.amount, fromCard: payment.amount });
    if (invoice.subscription !== null) takeEffect(simulation, invoice.subscription, invoice.id);
    return { outcome: 'paid' };
  });
}

function takeEffect(simulation: Simulation, id: string, invoice: string): void {
  const { pending_update, ...subscription } = simulation.store.get('subscription', id);
  if (pending_update?.invoice === invoice) {
    const upgraded = { ...subscription, ...pending_update.becomes, pending_update: null, latest_invoice: invoice };
    emitChanged(simulation, upgraded, 'customer.subscription.pending_update_applied');
  } else if (subscription.status === 'past_due')
    emitChanged(simulation, {
      ...subscription,
      pending_update: pending_update ?? null,
      status: 'active',
      next_payment_attempt: null,
    });
}

/** Gives up an upgrade whose payment was not confirmed in time. The plan stays as it is. */
export function lapse(simulation: Simulation, subscription: Subscription): Subscription {
  const { store } = simulation;
  const { pending_update } = subscription;
  if (!pending_update) return subscription;
  const invoice = store.get('invoice', pending_update.invoice);
  const payment = waitingPayment(simulation, invoice);
  if (payment) simulation.emit('payment_intent.canceled', store.put<PaymentIntent>({ ...payment, status: 'canceled' }));
  if (invoice.status === 'open') simulation.emit('invoice.voided', store.put<Invoice>({ ...invoice, status: 'void' }));
  const kept = { ...subscription, pending_update: null };
  emitChanged(simulation, kept, 'customer.subscription.pending_update_expired');
  return kept;
}

function emitChanged(
  simulation: Simulation,
  changed: Subscription,
  type:
    | 'customer.subscription.updated'
    | 'customer.subscription.pending_update_applied'
    | 'customer.subscription.pending_update_expired' = 'customer.subscription.updated',
): void {
  simulation.emit(type, simulation.store.put(changed));
}
