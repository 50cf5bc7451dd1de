import { expireCheckout } from './checkouts.ts';
import { arrive } from './debits.ts';
import { openInvoice, payInvoice, wholeLine } from './invoices.ts';
import { defaultMethod } from './methods.ts';
import type { Subscription } from './objects.ts';
import { periodEnd } from './period.ts';
import type { Simulation } from './simulation.ts';
import { intervalOf, updateSubscription } from './subscriptions.ts';
import { lapse, waitingPayment } from './waiting.ts';

const day = 86_400;
/** The delays after each failed attempt to pay a renewal. After the last one the subscription ends. */
const retryPauses = [3 * day, 5 * day, 7 * day];
/** How long an idempotency key is remembered. */
const keyLife = 30 * day;

/**
 * Makes all changes that are due by now, in chronological order. When the clock jumps far ahead, a subscription renews
 * several times.
 */
export function passTime(simulation: Simulation): void {
  const { store } = simulation;
  store.forgetKeys(simulation.now() - keyLife);
  const next = () =>
    store.transaction(() => {
      const due = store.due(simulation.now());
      if (due?.object === 'checkout.session') expireCheckout(simulation, due);
      if (due?.object === 'payment_intent') arrive(simulation, due);
      if (due?.object === 'subscription') move(simulation, due);
      return due !== undefined;
    });
  while (next());
}

function move(simulation: Simulation, subscription: Subscription): void {
  if (subscription.pending_update) {
    lapse(simulation, subscription);
    return;
  }
  const over = subscription.current_period_end <= simulation.now();
  if (subscription.cancel_at_period_end && over) end(simulation, subscription);
  else if (subscription.status === 'past_due') collect(simulation, subscription);
  else renew(simulation, subscription);
}

function renew(simulation: Simulation, subscription: Subscription): void {
  const price = simulation.store.get('price', subscription.price);
  const start = subscription.current_period_end;
  const invoice = openInvoice(simulation, {
    customer: subscription.customer,
    subscription: subscription.id,
    reason: 'subscription_cycle',
    lines: [wholeLine(price)],
    currency: price.currency,
    metadata: subscription.metadata,
  });
  collect(simulation, {
    ...subscription,
    latest_invoice: invoice.id,
    current_period_start: start,
    current_period_end: periodEnd(subscription.billing_cycle_anchor, start, intervalOf(price)),
  });
}

/** Attempts to collect the payment of a renewal. */
function collect(simulation: Simulation, subscription: Subscription): void {
  const open = simulation.store.get('invoice', subscription.latest_invoice);
  const method = defaultMethod(simulation, subscription.customer);
  const { invoice } = payInvoice(simulation, open, method, 'later');
  if (invoice.status === 'paid') {
    updateSubscription(simulation, { ...subscription, status: 'active', next_payment_attempt: null });
    return;
  }
  const pause = retryPauses[invoice.attempt_count - 1];
  if (pause === undefined) end(simulation, subscription);
  else {
    const next_payment_attempt = simulation.now() + pause;
    updateSubscription(simulation, { ...subscription, status: 'past_due', next_payment_attempt });
  }
}

function end(simulation: Simulation, subscription: Subscription): void {
  const { store } = simulation;
  const invoice = store.get('invoice', subscription.latest_invoice);
  if (invoice.status === 'open') {
    const waiting = waitingPayment(simulation, invoice);
    if (waiting) simulation.emit('payment_intent.canceled', store.put({ ...waiting, status: 'canceled' as const }));
    store.put({ ...invoice, status: 'uncollectible' });
  }
  const ended = store.put<Subscription>({
    ...subscription,
    status: 'canceled',
    next_payment_attempt: null,
    ended_at: simulation.now(),
  });
  simulation.emit('customer.subscription.deleted', ended);
}
