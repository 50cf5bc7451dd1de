import type { ProviderInvoice, ProviderPayment } from '../provider/index.ts';

export type PaymentState = 'pending' | 'succeeded' | 'failed';

/** The state of a payment at the provider, in billing's terms. */
export interface PaymentUpdate {
  readonly kind: 'token_pack' | 'subscription';
  readonly plan_key: string;
  readonly amount_cents: number;
  /** Including the amount that was paid from credit. */
  readonly total_cents: number;
  readonly refunded_cents: number;
  /** The store credit that an invoice used; negative when it gave credit. */
  readonly credit_cents: number;
  readonly currency: string;
  readonly token_amount: number;
  readonly status: PaymentState;
  readonly receipt_url: string | null;
  readonly provider_payment_id: string | null;
  readonly provider_invoice_id: string | null;
  readonly created_at: Date;
  /** The reason of the failure, for the customer. */
  readonly failure: string | null;
  /** Its payer is, or was, told where to confirm it. */
  readonly asked_holder: boolean;
}

interface Plan {
  readonly amount_cents: number;
  readonly token_amount: number;
}
type Plans = ReadonlyMap<string, Plan>;

/** A payment for a token pack. */
export function packPayment(payment: ProviderPayment, plans: Plans): PaymentUpdate {
  return {
    kind: 'token_pack',
    plan_key: payment.plan_key,
    amount_cents: payment.amount_cents,
    total_cents: payment.amount_cents,
    refunded_cents: payment.refunded_cents,
    credit_cents: 0,
    currency: payment.currency,
    token_amount: plans.get(payment.plan_key)?.token_amount ?? 0,
    status: payment.status,
    receipt_url: payment.receipt_url,
    provider_payment_id: payment.id,
    provider_invoice_id: null,
    created_at: payment.created_at,
    failure: payment.failure,
    asked_holder: false,
  };
}

/**
 * A payment of a subscription's invoice. `payment` is the one that pays it. Returns undefined while no payment has
 * been attempted.
 */
export function invoicePayment(
  invoice: ProviderInvoice,
  payment: ProviderPayment | undefined,
  plans: Plans,
): PaymentUpdate | undefined {
  const status = invoiceState(invoice, payment);
  if (status === undefined) return undefined;
  const amount = status === 'succeeded' ? invoice.amount_paid_cents : (payment?.amount_cents ?? 0);
  return {
    kind: 'subscription',
    plan_key: invoice.plan_key,
    amount_cents: amount,
    total_cents: Math.max(amount, invoice.total_cents),
    refunded_cents: payment?.refunded_cents ?? 0,
    credit_cents: status === 'succeeded' ? invoice.total_cents - amount : 0,
    currency: invoice.currency,
    token_amount: tokensOf(invoice.lines, plans),
    status,
    receipt_url: payment?.receipt_url ?? invoice.receipt_url,
    provider_payment_id: payment?.id ?? null,
    provider_invoice_id: invoice.id,
    created_at: invoice.created_at,
    failure: payment?.failure ?? (status === 'failed' && invoice.status === 'void' ? tooLate : null),
    asked_holder: asksHolder(invoice, payment),
  };
}

const tooLate = 'It was not confirmed in time, or another change took its place.';
/** How long Stripe keeps a change of plan whose payment is not confirmed. */
const pendingMs = 23 * 3_600_000;

/** Nobody looks at a renewal, or has to look at a change of plan. On the page of a first payment its payer is asked there. */
const asksHolder = ({ reason }: ProviderInvoice, payment: ProviderPayment | undefined) =>
  payment?.needs_holder === true && (reason === 'cycle' || reason === 'update');

/** Until when a payment can be confirmed; null when that is not known. */
export const confirmedBefore = ({ reason, created_at }: ProviderInvoice): Date | null =>
  reason === 'update' ? new Date(created_at.getTime() + pendingMs) : null;

function invoiceState({ status }: ProviderInvoice, payment: ProviderPayment | undefined): PaymentState | undefined {
  if (status === 'paid') return 'succeeded';
  if (!payment) return undefined;
  if (status === 'void' || status === 'uncollectible') return 'failed';
  // The invoice becomes paid a moment after its payment, and its status decides.
  return payment.status === 'succeeded' ? 'pending' : payment.status;
}

/**
 * The number of tokens follows the amount paid: a full period grants the tokens of the plan, a prorated line the same
 * share of them, and a credit for the former plan subtracts its share. The result is rounded down and never negative.
 */
export function tokensOf(lines: ProviderInvoice['lines'], plans: Plans): number {
  const shares = lines.map(({ plan_key, amount_cents, proration }) => {
    const plan = plans.get(plan_key);
    if (!plan) return 0;
    if (!proration) return plan.token_amount;
    return plan.amount_cents > 0 ? (plan.token_amount * amount_cents) / plan.amount_cents : 0;
  });
  const sum = shares.reduce((total, share) => total + share, 0);
  // Corrects a floating-point error just below a whole number.
  return Math.max(0, Math.floor(sum + 1e-6));
}
