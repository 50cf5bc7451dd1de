import type { Bought, Invoice, InvoiceLine, PaymentIntent, PaymentMethod, Price } from './objects.ts';
import { charge, type Moment } from './payments.ts';
import type { Simulation } from './simulation.ts';

export interface NewInvoice {
  readonly customer: string;
  readonly subscription: string | null;
  readonly reason: Invoice['billing_reason'];
  readonly lines: readonly InvoiceLine[];
  readonly currency: string;
  readonly metadata: Bought;
}

/** An invoice line for one full period of a price. */
export const wholeLine = ({ nickname, unit_amount, metadata }: Price): InvoiceLine => {
  return { description: nickname, amount: unit_amount, proration: false, metadata };
};

export function openInvoice(simulation: Simulation, requested: NewInvoice): Invoice {
  const { customer, subscription, reason, lines, currency, metadata } = requested;
  return simulation.store.put<Invoice>({
    ...simulation.begin('invoice'),
    customer,
    subscription,
    status: 'open',
    billing_reason: reason,
    lines: { data: lines },
    total: lines.reduce((sum, line) => sum + line.amount, 0),
    amount_paid: 0,
    currency,
    attempt_count: 0,
    payment_intent: null,
    metadata,
  });
}

/** How much of an invoice is paid from the customer's credit, and how much by card. */
export function dueOn(simulation: Simulation, invoice: Invoice): { fromBalance: number; fromCard: number } {
  const { balance } = simulation.store.get('customer', invoice.customer);
  const credit = Math.max(0, -balance);
  const fromBalance = Math.min(credit, invoice.total);
  return { fromBalance, fromCard: Math.max(0, invoice.total - fromBalance) };
}

/** Pays an open invoice, or leaves it open with a failed payment. A negative total becomes credit. */
export function payInvoice(
  simulation: Simulation,
  invoice: Invoice,
  method: PaymentMethod | undefined,
  moment: Moment,
): { invoice: Invoice; payment: PaymentIntent | undefined } {
  const { store } = simulation;
  const { fromBalance, fromCard } = dueOn(simulation, invoice);
  const { id, customer, currency, metadata, payment_intent } = invoice;
  const earlier = payment_intent === null ? undefined : store.get('payment_intent', payment_intent);
  const requested = { customer, amount: fromCard, currency, invoice: id, metadata };
  // Credit that was added since the last attempt reduces the amount to charge.
  const again = earlier && { ...earlier, amount: fromCard };
  const payment = fromCard > 0 ? charge(simulation, requested, method, moment, again) : undefined;
  const tried = { ...invoice, attempt_count: invoice.attempt_count + 1, payment_intent: payment?.id ?? payment_intent };
  if (payment && payment.status !== 'succeeded') {
    const unpaid = store.put<Invoice>(tried);
    const waits = payment.status === 'requires_action';
    simulation.emit(waits ? 'invoice.payment_action_required' : 'invoice.payment_failed', unpaid);
    return { invoice: unpaid, payment };
  }
  return { invoice: settleInvoice(simulation, tried, { fromBalance, fromCard }), payment };
}

/** Marks an invoice as paid, and takes what it uses of the customer's credit. */
export function settleInvoice(
  simulation: Simulation,
  invoice: Invoice,
  { fromBalance, fromCard }: { readonly fromBalance: number; readonly fromCard: number },
): Invoice {
  const { store } = simulation;
  const holder = store.get('customer', invoice.customer);
  store.put({ ...holder, balance: holder.balance + fromBalance });
  const paid = store.put<Invoice>({ ...invoice, status: 'paid', amount_paid: fromCard });
  simulation.emit('invoice.paid', paid);
  return paid;
}
