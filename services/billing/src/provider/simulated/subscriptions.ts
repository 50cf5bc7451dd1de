import { type PlanChange, ProviderError } from '../payment-provider.ts';
import { openInvoice, payInvoice, wholeLine } from './invoices.ts';
import { defaultMethod } from './methods.ts';
import type { CheckoutSession, InvoiceLine, Price, Subscription } from './objects.ts';
import { type Interval, periodEnd } from './period.ts';
import { priceFor } from './prices.ts';
import { type Prorated, prorate } from './proration.ts';
import type { Simulation } from './simulation.ts';
import { lapse } from './waiting.ts';

export function beginSubscription(
  simulation: Simulation,
  { customer, metadata }: CheckoutSession,
  price: Price,
  invoice: string,
): Subscription {
  const now = simulation.now();
  const begun = simulation.store.put<Subscription>({
    ...simulation.begin('subscription'),
    customer,
    status: 'active',
    price: price.id,
    cancel_at_period_end: false,
    billing_cycle_anchor: now,
    current_period_start: now,
    current_period_end: periodEnd(now, now, intervalOf(price)),
    latest_invoice: invoice,
    next_payment_attempt: null,
    ended_at: null,
    metadata,
  });
  simulation.emit('customer.subscription.created', begun);
  return begun;
}

export function setCancelAtPeriodEnd(simulation: Simulation, id: string, cancel: boolean): Subscription {
  const subscription = liveSubscription(simulation, id);
  if (subscription.cancel_at_period_end === cancel) return subscription;
  return updateSubscription(simulation, { ...subscription, cancel_at_period_end: cancel });
}

/** Changes nothing when the subscription is already on the plan. */
export function changePlan(simulation: Simulation, change: PlanChange): Subscription {
  const { subscriptionId, fromPlanKey, price: entry, type } = change;
  const found = simulation.store.get('subscription', subscriptionId);
  const { plan_key } = found.metadata;
  if (plan_key === entry.plan_key) return found;
  if (plan_key !== fromPlanKey)
    throw new ProviderError('refused', `The subscription is on ${plan_key}, not on ${fromPlanKey}.`);
  const live = liveSubscription(simulation, subscriptionId);
  if (live.pending_update?.becomes.metadata.plan_key === entry.plan_key) return live;
  // Another change takes the place of one that waits.
  const subscription = lapse(simulation, live);
  const from = simulation.store.get('price', subscription.price);
  const to = priceFor(simulation, entry);
  if (!to.recurring || to.currency !== from.currency)
    throw new ProviderError('refused', 'A subscription is to a recurring price, in the currency it began with.');
  const { metadata } = subscription;
  const changed = { ...subscription, price: to.id, metadata: { ...metadata, plan_key: entry.plan_key } };
  if (type === 'upgrade') return upgrade(simulation, subscription, changed, from, to);
  // The period that was paid stays. If the new interval is different, its first period begins at the end of the current
  // one.
  const anchor =
    intervalOf(from) === intervalOf(to) ? subscription.billing_cycle_anchor : subscription.current_period_end;
  return updateSubscription(simulation, { ...changed, billing_cycle_anchor: anchor });
}

/** Invoices and charges the difference at once. If the charge fails, nothing changes. */
function upgrade(
  simulation: Simulation,
  before: Subscription,
  after: Subscription,
  from: Price,
  to: Price,
): Subscription {
  if (before.status !== 'active') throw new ProviderError('refused', 'What is past due is paid first.');
  const { customer, billing_cycle_anchor, current_period_start, current_period_end } = before;
  const prorated = prorate(
    { anchor: billing_cycle_anchor, start: current_period_start, end: current_period_end },
    { amount: from.unit_amount, interval: intervalOf(from) },
    { amount: to.unit_amount, interval: intervalOf(to) },
    simulation.now(),
  );
  const opened = openInvoice(simulation, {
    customer,
    subscription: before.id,
    reason: 'subscription_update',
    lines: changeLines(prorated, from, to),
    currency: to.currency,
    metadata: after.metadata,
  });
  const pendingFor = 23 * 3_600;
  const becomes = {
    price: after.price,
    metadata: after.metadata,
    billing_cycle_anchor: prorated.anchor,
    current_period_start: prorated.start,
    current_period_end: prorated.end,
  };
  const { invoice, payment } = payInvoice(simulation, opened, defaultMethod(simulation, customer), 'later');
  if (payment?.status === 'requires_action') {
    const expires_at = simulation.now() + pendingFor;
    return updateSubscription(simulation, { ...before, pending_update: { expires_at, invoice: invoice.id, becomes } });
  }
  if (invoice.status !== 'paid') {
    simulation.store.put({ ...invoice, status: 'void' });
    throw new ProviderError('declined', payment?.last_payment_error?.message ?? 'The payment failed.');
  }
  return updateSubscription(simulation, { ...after, ...becomes, latest_invoice: invoice.id });
}

function changeLines({ credit, charge, partial }: Prorated, from: Price, to: Price): InvoiceLine[] {
  const line = (description: string, amount: number, { metadata }: Price) => {
    return { description, amount, proration: true, metadata };
  };
  return [
    line(`Unused time on ${from.nickname}`, 0 - credit, from),
    partial ? line(`Remaining time on ${to.nickname}`, charge, to) : wholeLine(to),
  ];
}

export function updateSubscription(simulation: Simulation, changed: Subscription): Subscription {
  simulation.emit('customer.subscription.updated', changed);
  return simulation.store.put(changed);
}

function liveSubscription({ store }: Simulation, id: string): Subscription {
  const subscription = store.get('subscription', id);
  if (subscription.status === 'canceled') throw new ProviderError('refused', 'The subscription has ended.');
  return subscription;
}

export function intervalOf({ recurring }: Price): Interval {
  if (!recurring) throw new ProviderError('refused', 'The price is paid once.');
  return recurring.interval;
}
