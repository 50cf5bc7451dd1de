import { type NewCheckout, ProviderError } from '../payment-provider.ts';
import { asksHolder, type GivenCard, notAuthenticated } from './cards.ts';
import { debit, isLate } from './debits.ts';
import { dueOn, openInvoice, payInvoice, wholeLine } from './invoices.ts';
import { newMethod, saveMethod } from './methods.ts';
import type { CheckoutSession, Invoice, PaymentIntent, PaymentMethod, Price } from './objects.ts';
import type { Paying } from './paying.ts';
import { awaitHolder, charge, failPayment, type NewPayment } from './payments.ts';
import { priceFor } from './prices.ts';
import type { Simulation } from './simulation.ts';
import { beginSubscription } from './subscriptions.ts';

const life = 24 * 3_600;

export function createCheckout(simulation: Simulation, requested: NewCheckout): CheckoutSession {
  const { store } = simulation;
  const customer = store.get('customer', requested.customerId);
  const price = priceFor(simulation, requested.price);
  if ((requested.mode === 'subscription') !== (price.recurring !== null))
    throw new ProviderError('refused', 'A subscription is to a recurring price, a payment for one that is not.');
  return store.put<CheckoutSession>({
    ...simulation.begin('checkout.session'),
    customer: customer.id,
    mode: requested.mode,
    status: 'open',
    price: price.id,
    success_url: requested.returnUrl,
    client_reference_id: requested.reference,
    expires_at: simulation.now() + life,
    payment_intent: null,
    invoice: null,
    subscription: null,
    pending_method: null,
    metadata: { account_id: requested.accountId, plan_key: requested.price.plan_key },
  });
}

/** One step of paying. The status is checked in the same transaction, so that only one of two browser tabs can pay. */
export function payCheckout(simulation: Simulation, id: string, card: GivenCard): Paying {
  return simulation.store.transaction(() => {
    const session = simulation.store.get('checkout.session', id);
    if (!isOpen(simulation, session)) return { outcome: 'closed' };
    const method = newMethod(simulation, card);
    const begun = withInvoice(simulation, session);
    const requested = paymentOf(simulation, begun);
    if (begun.mode === 'payment' && isLate(card.behaviour)) return debit(simulation, begun, requested, card);
    if (!asksHolder(card.behaviour, 'page') || requested.amount === 0) return complete(simulation, begun, method);
    const payment = awaitHolder(simulation, requested, earlierPayment(simulation, begun));
    linkInvoice(simulation, begun, payment);
    simulation.store.put({ ...begun, payment_intent: payment.id, pending_method: method.id });
    return { outcome: 'asks_holder' };
  });
}

/** The card holder's response to the 3-D Secure question. */
export function answerBank(simulation: Simulation, id: string, isThem: boolean): Paying {
  const { store } = simulation;
  return store.transaction(() => {
    const session = store.get('checkout.session', id);
    if (!isOpen(simulation, session) || session.pending_method === null) return { outcome: 'closed' };
    const settled = { ...session, pending_method: null };
    if (isThem) return complete(simulation, settled, store.get('payment_method', session.pending_method));
    store.put(settled);
    const payment = earlierPayment(simulation, settled);
    if (payment) failPayment(simulation, payment, notAuthenticated);
    return { outcome: 'declined', why: notAuthenticated.message };
  });
}

export function expireCheckout(simulation: Simulation, session: CheckoutSession): void {
  const { store } = simulation;
  const payment = earlierPayment(simulation, session);
  if (payment) simulation.emit('payment_intent.canceled', store.put<PaymentIntent>({ ...payment, status: 'canceled' }));
  const invoice = invoiceOf(simulation, session);
  if (invoice) store.put({ ...invoice, status: 'void' });
  const expired = store.put<CheckoutSession>({ ...session, status: 'expired', pending_method: null });
  simulation.emit('checkout.session.expired', expired);
}

const isOpen = (simulation: Simulation, { status, expires_at }: CheckoutSession) =>
  status === 'open' && simulation.now() < expires_at;

function complete(simulation: Simulation, session: CheckoutSession, method: PaymentMethod): Paying {
  const begun = { ...session, pending_method: null };
  const invoice = invoiceOf(simulation, begun);
  const payment = invoice
    ? payInvoice(simulation, invoice, method, 'page').payment
    : charge(simulation, paymentOf(simulation, begun), method, 'page', earlierPayment(simulation, begun));
  const tried = { ...begun, payment_intent: payment?.id ?? null };
  if (payment?.last_payment_error) {
    simulation.store.put(tried);
    return { outcome: 'declined', why: payment.last_payment_error.message };
  }
  const subscription = invoice ? subscribe(simulation, tried, invoice.id, method) : null;
  const completed = simulation.store.put<CheckoutSession>({ ...tried, status: 'complete', subscription });
  simulation.emit('checkout.session.completed', completed);
  return { outcome: 'paid' };
}

function subscribe(simulation: Simulation, session: CheckoutSession, invoiceId: string, method: PaymentMethod): string {
  const { store } = simulation;
  saveMethod(simulation, session.customer, method);
  const { id } = beginSubscription(simulation, session, priceOf(simulation, session), invoiceId);
  store.put({ ...store.get('invoice', invoiceId), subscription: id });
  return id;
}

/** Adds a subscription's first invoice at the first attempt to pay, so that a failed payment has an invoice too. */
function withInvoice(simulation: Simulation, session: CheckoutSession): CheckoutSession {
  if (session.mode === 'payment' || session.invoice !== null) return session;
  const price = priceOf(simulation, session);
  const { id } = openInvoice(simulation, {
    customer: session.customer,
    subscription: null,
    reason: 'subscription_create',
    lines: [wholeLine(price)],
    currency: price.currency,
    metadata: session.metadata,
  });
  return { ...session, invoice: id };
}

function linkInvoice(simulation: Simulation, session: CheckoutSession, { id }: PaymentIntent): void {
  const invoice = invoiceOf(simulation, session);
  if (invoice) simulation.store.put({ ...invoice, payment_intent: id });
}

function paymentOf(simulation: Simulation, session: CheckoutSession): NewPayment {
  const { unit_amount, currency } = priceOf(simulation, session);
  const { customer, metadata, invoice } = session;
  const opened = invoiceOf(simulation, session);
  const amount = opened ? dueOn(simulation, opened).fromCard : unit_amount;
  return { customer, amount, currency, invoice, metadata };
}

const priceOf = ({ store }: Simulation, { price }: CheckoutSession): Price => store.get('price', price);

const invoiceOf = ({ store }: Simulation, { invoice }: CheckoutSession): Invoice | undefined =>
  invoice === null ? undefined : store.get('invoice', invoice);

const earlierPayment = ({ store }: Simulation, { payment_intent: id }: CheckoutSession): PaymentIntent | undefined =>
  id === null ? undefined : store.get('payment_intent', id);
