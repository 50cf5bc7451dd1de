import type {
  ProviderCheckout,
  ProviderCredit,
  ProviderDispute,
  ProviderFraudWarning,
  ProviderInvoice,
  ProviderInvoiceLine,
  ProviderPayment,
  ProviderPaymentMethod,
  ProviderRefund,
  ProviderSubscription,
} from '../payment-provider.ts';
import type {
  BalanceTransaction,
  CheckoutSession,
  Dispute,
  FraudWarning,
  Invoice,
  InvoiceLine,
  PaymentIntent,
  PaymentMethod,
  Refund,
  Subscription,
} from './objects.ts';

/** The URLs of the pages. */
export interface Links {
  checkout(id: string): string;
  receipt(paymentId: string): string;
  invoice(id: string): string;
}

export function linksUnder(baseUrl: () => string): Links {
  const under = (path: string) => baseUrl().replace(/\/+$/, '') + path;
  return {
    checkout: (id) => under(`/checkout/${id}`),
    receipt: (id) => under(`/receipts/${id}`),
    invoice: (id) => under(`/invoices/${id}`),
  };
}

const dateOf = (seconds: number) => new Date(seconds * 1000);

export function toCheckout(session: CheckoutSession, links: Links): ProviderCheckout {
  return {
    id: session.id,
    status: statusOf(session),
    url: session.status === 'open' ? links.checkout(session.id) : null,
    payment_id: session.mode === 'payment' ? session.payment_intent : null,
    subscription_id: session.subscription,
    reference: session.client_reference_id,
    account_id: session.metadata.account_id,
  };
}

function statusOf({ status, payment_status }: CheckoutSession): ProviderCheckout['status'] {
  if (status !== 'complete' || payment_status === undefined || payment_status === 'paid') return status;
  return payment_status === 'unpaid' ? 'open' : 'expired';
}

export function toPayment(payment: PaymentIntent, links: Links): ProviderPayment {
  const paid = payment.status === 'succeeded';
  const failed = payment.status === 'canceled' || payment.last_payment_error !== null;
  return {
    id: payment.id,
    customer_id: payment.customer,
    status: paid ? 'succeeded' : failed ? 'failed' : 'pending',
    amount_cents: payment.amount,
    refunded_cents: payment.amount_refunded,
    disputed: payment.disputed ?? false,
    needs_holder: payment.status === 'requires_action',
    currency: payment.currency,
    receipt_url: paid ? links.receipt(payment.id) : null,
    failure: payment.last_payment_error?.message ?? null,
    invoice_id: payment.invoice,
    account_id: payment.metadata.account_id,
    plan_key: payment.metadata.plan_key,
    created_at: dateOf(payment.created),
  };
}

const toLine = ({ amount, proration, metadata }: InvoiceLine): ProviderInvoiceLine => {
  return { plan_key: metadata.plan_key, amount_cents: amount, proration };
};

const reasons = { subscription_create: 'create', subscription_cycle: 'cycle', subscription_update: 'update' } as const;

export function toInvoice(invoice: Invoice, links: Links): ProviderInvoice {
  const { payment_intent: payment, amount_paid } = invoice;
  return {
    id: invoice.id,
    customer_id: invoice.customer,
    subscription_id: invoice.subscription,
    status: invoice.status,
    reason: reasons[invoice.billing_reason],
    amount_paid_cents: amount_paid,
    total_cents: invoice.total,
    currency: invoice.currency,
    payment_id: payment,
    receipt_url: payment !== null && invoice.status === 'paid' && amount_paid > 0 ? links.receipt(payment) : null,
    page_url: invoice.status === 'open' ? links.invoice(invoice.id) : null,
    plan_key: invoice.metadata.plan_key,
    lines: invoice.lines.data.map(toLine),
    account_id: invoice.metadata.account_id,
    created_at: dateOf(invoice.created),
  };
}

export function toSubscription(subscription: Subscription): ProviderSubscription {
  return {
    id: subscription.id,
    customer_id: subscription.customer,
    status: subscription.status,
    plan_key: subscription.metadata.plan_key,
    cancel_at_period_end: subscription.cancel_at_period_end,
    current_period_end: dateOf(subscription.current_period_end),
    pending_plan_key: subscription.pending_update?.becomes.metadata.plan_key ?? null,
    account_id: subscription.metadata.account_id,
    created_at: dateOf(subscription.created),
  };
}

export function toRefund(refund: Refund): ProviderRefund {
  return {
    id: refund.id,
    payment_id: refund.payment_intent,
    amount_cents: refund.amount,
    status: refund.status,
    reason: refund.reason,
    reference: refund.metadata.reference,
  };
}

export const toDispute = (dispute: Dispute): ProviderDispute => ({
  id: dispute.id,
  payment_id: dispute.payment_intent,
  amount_cents: dispute.amount,
  status: dispute.status === 'needs_response' ? 'open' : dispute.status,
  reason: dispute.reason,
  created_at: dateOf(dispute.created),
});

export const toFraudWarning = ({ id, payment_intent, actionable }: FraudWarning): ProviderFraudWarning => {
  return { id, payment_id: payment_intent, actionable };
};

export const toCredit = ({ id, amount, metadata }: BalanceTransaction): ProviderCredit => {
  return { id, amount_cents: -amount, reference: metadata.reference };
};

export function toMethod({ id, card }: PaymentMethod, defaultId: string | null): ProviderPaymentMethod {
  return { id, ...card, is_default: id === defaultId };
}
