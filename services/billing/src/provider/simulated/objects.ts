import { randomBytes } from 'node:crypto';
import type { NewRefund } from '../payment-provider.ts';

/*
 * As much of Stripe's objects as a simulation needs, under Stripe's names, so that its notifications look like Stripe's.
 * Times are seconds since the epoch, amounts integer cents.
 */

interface Kept<Kind extends string> {
  readonly id: string;
  readonly object: Kind;
  readonly created: number;
}

export interface Bought {
  readonly account_id: string;
  readonly plan_key: string;
}

export interface Customer extends Kept<'customer'> {
  readonly name: string;
  /** Negative for credit. */
  readonly balance: number;
  readonly invoice_settings: { readonly default_payment_method: string | null };
  readonly metadata: { readonly account_id: string };
}

export interface Price extends Kept<'price'> {
  /** The plan key; null after another price has replaced this one. */
  readonly lookup_key: string | null;
  readonly nickname: string;
  readonly unit_amount: number;
  readonly currency: string;
  readonly recurring: { readonly interval: 'month' | 'year' } | null;
  readonly metadata: { readonly plan_key: string };
}

export interface CheckoutSession extends Kept<'checkout.session'> {
  readonly customer: string;
  readonly mode: 'payment' | 'subscription';
  readonly status: 'open' | 'complete' | 'expired';
  /** Absent in files of earlier releases. */
  readonly payment_status?: 'paid' | 'unpaid' | 'failed';
  readonly price: string;
  readonly success_url: string;
  readonly client_reference_id: string;
  readonly expires_at: number;
  /** In both modes, set at the first attempt to pay. */
  readonly payment_intent: string | null;
  readonly invoice: string | null;
  readonly subscription: string | null;
  /** The payment method that waits for the 3-D Secure confirmation of its holder. */
  readonly pending_method: string | null;
  readonly metadata: Bought;
}

export interface PaymentIntent extends Kept<'payment_intent'> {
  readonly customer: string;
  readonly status: 'requires_payment_method' | 'requires_action' | 'processing' | 'succeeded' | 'canceled';
  /** When the money of a debit arrives, or does not. */
  readonly arrives_at?: number;
  readonly amount: number;
  readonly amount_refunded: number;
  /** Absent in files of earlier releases. */
  readonly disputed?: boolean;
  readonly currency: string;
  readonly payment_method: string | null;
  readonly latest_charge: string;
  readonly invoice: string | null;
  readonly last_payment_error: { readonly code: string; readonly message: string } | null;
  readonly metadata: Bought;
}

export interface InvoiceLine {
  readonly description: string;
  readonly amount: number;
  readonly proration: boolean;
  readonly metadata: { readonly plan_key: string };
}

export interface Invoice extends Kept<'invoice'> {
  readonly customer: string;
  readonly subscription: string | null;
  readonly status: 'open' | 'paid' | 'uncollectible' | 'void';
  readonly billing_reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update';
  readonly lines: { readonly data: readonly InvoiceLine[] };
  readonly total: number;
  readonly amount_paid: number;
  readonly currency: string;
  readonly attempt_count: number;
  readonly payment_intent: string | null;
  readonly metadata: Bought;
}

export interface PendingUpdate {
  readonly expires_at: number;
  readonly invoice: string;
  /** What the subscription becomes. */
  readonly becomes: Pick<
    Subscription,
    'price' | 'metadata' | 'billing_cycle_anchor' | 'current_period_start' | 'current_period_end'
  >;
}

export interface Subscription extends Kept<'subscription'> {
  readonly customer: string;
  readonly status: 'active' | 'past_due' | 'canceled';
  readonly price: string;
  readonly cancel_at_period_end: boolean;
  /** Periods end on the day of the month of this time. */
  readonly billing_cycle_anchor: number;
  readonly current_period_start: number;
  readonly current_period_end: number;
  readonly latest_invoice: string;
  /** An upgrade whose payment waits for the holder of the card. Absent in files of earlier releases. */
  readonly pending_update?: PendingUpdate | null;
  /** Set while the subscription is past due. */
  readonly next_payment_attempt: number | null;
  readonly ended_at: number | null;
  readonly metadata: Bought;
}

export interface Refund extends Kept<'refund'> {
  readonly payment_intent: string;
  readonly amount: number;
  readonly currency: string;
  readonly reason: NewRefund['reason'];
  readonly status: 'succeeded';
  readonly metadata: { readonly reference: string };
}

export interface Dispute extends Kept<'dispute'> {
  readonly payment_intent: string;
  readonly charge: string;
  readonly amount: number;
  readonly currency: string;
  readonly reason: 'fraudulent';
  readonly status: 'needs_response' | 'won' | 'lost';
}

export interface FraudWarning extends Kept<'radar.early_fraud_warning'> {
  readonly payment_intent: string;
  readonly charge: string;
  readonly actionable: boolean;
  readonly fraud_type: 'unauthorized_use_of_card';
}

/** A change of a customer's balance; negative for credit. */
export interface BalanceTransaction extends Kept<'customer_balance_transaction'> {
  readonly customer: string;
  readonly amount: number;
  readonly currency: string;
  readonly description: string;
  readonly metadata: { readonly reference: string };
}

/** The behaviour of a test card. It is stored instead of the card number. */
export type Behaviour =
  | 'succeeds'
  | 'declined'
  | 'insufficient_funds'
  | 'fails_later'
  | 'authenticates'
  | 'authenticates_always'
  | 'pays_late'
  | 'fails_late'
  | 'disputed'
  | 'warned';

export interface Card {
  readonly brand: string;
  readonly last4: string;
  readonly exp_month: number;
  readonly exp_year: number;
}

export interface PaymentMethod extends Kept<'payment_method'> {
  /** null for a card that was used once and not saved. */
  readonly customer: string | null;
  readonly card: Card;
  readonly metadata: { readonly behaviour: Behaviour };
}

export interface SetupIntent extends Kept<'setup_intent'> {
  readonly customer: string;
  readonly client_secret: string;
  readonly status: 'requires_payment_method' | 'requires_action' | 'succeeded';
  readonly pending_method: string | null;
  readonly payment_method: string | null;
}

export type SimulatedObject =
  | Customer
  | Price
  | CheckoutSession
  | PaymentIntent
  | Invoice
  | Subscription
  | Refund
  | Dispute
  | FraudWarning
  | BalanceTransaction
  | PaymentMethod
  | SetupIntent;

export type Kind = SimulatedObject['object'];
export type ObjectOf<K extends Kind> = Extract<SimulatedObject, { object: K }>;

const prefixes: Record<Kind | 'event' | 'charge', string> = {
  customer: 'cus',
  price: 'price',
  'checkout.session': 'cs_sim',
  payment_intent: 'pi',
  invoice: 'in',
  subscription: 'sub',
  refund: 're',
  customer_balance_transaction: 'cbtxn',
  dispute: 'du',
  'radar.early_fraud_warning': 'issfr',
  payment_method: 'pm',
  setup_intent: 'seti',
  event: 'evt',
  charge: 'ch',
};

/** Ids are random, because whoever knows the id of a checkout may pay it. */
export const newObjectId = (kind: keyof typeof prefixes) => `${prefixes[kind]}_${randomBytes(16).toString('hex')}`;

/** The key by which an object is found, besides its id. */
export function ownerOf(object: SimulatedObject): string | null {
  if (object.object === 'price') return object.lookup_key;
  if ('charge' in object || object.object === 'refund') return object.payment_intent;
  return 'customer' in object ? object.customer : null;
}

/** The time at which an object changes without a request. */
export function dueOf(object: SimulatedObject): number | null {
  if (object.object === 'checkout.session') return object.status === 'open' ? object.expires_at : null;
  if (object.object === 'payment_intent') return object.status === 'processing' ? (object.arrives_at ?? null) : null;
  if (object.object !== 'subscription' || object.status === 'canceled') return null;
  const { next_payment_attempt, current_period_end, cancel_at_period_end, pending_update } = object;
  if (pending_update) return Math.min(pending_update.expires_at, current_period_end);
  if (object.status === 'active' || next_payment_attempt === null) return current_period_end;
  return cancel_at_period_end ? Math.min(next_payment_attempt, current_period_end) : next_payment_attempt;
}
