/**
 * What billing asks of whoever moves the money. The words are Stripe's; amounts are integer cents. Drivers throw
 * `ProviderError` for every failure. A write takes a `key` that was made before the call: repeated under it, it is done
 * once and answers the same.
 */
export interface PaymentProvider {
  readonly name: 'stripe' | 'simulated';
  createCustomer(customer: { accountId: string; name: string }, key: string): Promise<ProviderCustomer>;
  getCustomer(id: string): Promise<ProviderCustomer>;
  /** A page where the customer pays for one of a price, or begins a subscription to it. */
  createCheckout(checkout: NewCheckout, key: string): Promise<ProviderCheckout>;
  getCheckout(id: string): Promise<ProviderCheckout>;
  /** Nobody can pay there any more. Throws `refused` for one that is not open. */
  expireCheckout(id: string): Promise<void>;
  getPayment(id: string): Promise<ProviderPayment>;
  getInvoice(id: string): Promise<ProviderInvoice>;
  getSubscription(id: string): Promise<ProviderSubscription>;
  setCancelAtPeriodEnd(id: string, cancel: boolean, key: string): Promise<ProviderSubscription>;
  /**
   * `upgrade`: the difference is invoiced at once, and only what is paid is in force. `downgrade`: no invoice. Throws
   * `refused` where the subscription is neither on the plan it is to come from nor on the other already.
   */
  changePlan(change: PlanChange, key: string): Promise<ProviderSubscription>;
  createRefund(refund: NewRefund, key: string): Promise<ProviderRefund>;
  getRefund(id: string): Promise<ProviderRefund>;
  /** The refund of a payment that was made under a reference of ours. */
  findRefund(paymentId: string, reference: string): Promise<ProviderRefund | undefined>;
  listPaymentMethods(customerId: string): Promise<readonly ProviderPaymentMethod[]>;
  /** For a browser to add a payment method with. */
  createSetupIntent(customerId: string, key: string): Promise<ProviderSetup>;
  getSetup(id: string): Promise<{ readonly id: string; readonly customer_id: string }>;
  /**
   * What the customer owes is charged to the card of a finished set-up from now on, of running subscriptions too. One that
   * is not finished changes nothing.
   */
  useSavedCard(setupId: string, key: string): Promise<void>;
  /** Throws `not_found` for one that the customer does not have. */
  detachPaymentMethod(customerId: string, id: string): Promise<void>;
  /** Makes the prices there are at the provider, found again by their keys; answers the provider's ids by plan key. */
  syncPrices(prices: readonly CatalogueEntry[]): Promise<ReadonlyMap<string, string>>;
  /** A notification whose signature is right; undefined where it is not, or is too old. */
  readWebhook(body: Buffer, signature: string | undefined): ProviderEvent | undefined;
  /** All of a customer's, in any order: for comparison. */
  listPayments(customerId: string): AsyncIterable<ProviderPayment>;
  /** Notifications since a time, oldest first: for what never came. */
  listEvents(since: Date): AsyncIterable<ProviderEvent>;
}

export class ProviderError extends Error {
  /**
   * `not_found`: the provider has no such thing. `declined`: the card network said no. `refused`: the request can never
   * be done. `unavailable`: it may be done when it is repeated under the same key.
   */
  readonly kind: 'not_found' | 'declined' | 'refused' | 'unavailable';

  constructor(kind: ProviderError['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export interface ProviderCustomer {
  readonly id: string;
  /** Below nought: credit for coming invoices. */
  readonly balance_cents: number;
}

export interface CatalogueEntry {
  readonly plan_key: string;
  readonly name: string;
  readonly amount_cents: number;
  readonly currency: string;
  /** null: paid once. */
  readonly interval: 'month' | 'year' | null;
}

export interface NewCheckout {
  readonly customerId: string;
  readonly mode: 'payment' | 'subscription';
  readonly price: CatalogueEntry;
  readonly returnUrl: string;
  /** Ours: cs_ and acc_ ids travel with everything that comes of it. */
  readonly reference: string;
  readonly accountId: string;
}

export interface ProviderCheckout {
  readonly id: string;
  readonly status: 'open' | 'complete' | 'expired';
  /** null once it is no longer open. */
  readonly url: string | null;
  /** Of mode `payment`, once there is one. */
  readonly payment_id: string | null;
  /** Of mode `subscription`, once there is one. */
  readonly subscription_id: string | null;
  readonly reference: string;
  readonly account_id: string;
}

export interface ProviderPayment {
  readonly id: string;
  readonly customer_id: string;
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly amount_cents: number;
  readonly refunded_cents: number;
  readonly currency: string;
  readonly receipt_url: string | null;
  /** Why it failed, for people. */
  readonly failure: string | null;
  /** What it pays for: of a subscription. */
  readonly invoice_id: string | null;
  readonly account_id: string;
  readonly plan_key: string;
  readonly created_at: Date;
}

export interface ProviderInvoice {
  readonly id: string;
  readonly customer_id: string;
  readonly subscription_id: string | null;
  readonly status: 'draft' | 'open' | 'paid' | 'uncollectible' | 'void';
  /** `create`: the first; `cycle`: a renewal; `update`: a change of plan. */
  readonly reason: 'create' | 'cycle' | 'update' | 'other';
  readonly amount_paid_cents: number;
  /** With what credit paid. */
  readonly total_cents: number;
  readonly currency: string;
  readonly payment_id: string | null;
  readonly receipt_url: string | null;
  /** Of the line that is mostly paid for. */
  readonly plan_key: string;
  readonly lines: readonly ProviderInvoiceLine[];
  readonly account_id: string;
  readonly created_at: Date;
}

export interface ProviderInvoiceLine {
  readonly plan_key: string;
  /** Below nought: given back for time that is left on a plan. */
  readonly amount_cents: number;
  /** For a part of a period, as the plan was changed within it. */
  readonly proration: boolean;
}

export interface ProviderSubscription {
  readonly id: string;
  readonly customer_id: string;
  readonly status: 'incomplete' | 'incomplete_expired' | 'trialing' | 'active' | 'past_due' | 'unpaid' | 'canceled';
  readonly plan_key: string;
  readonly cancel_at_period_end: boolean;
  readonly current_period_end: Date | null;
  readonly account_id: string;
  readonly created_at: Date;
}

export interface PlanChange {
  readonly subscriptionId: string;
  readonly fromPlanKey: string;
  readonly price: CatalogueEntry;
  readonly type: 'upgrade' | 'downgrade';
}

export interface NewRefund {
  readonly paymentId: string;
  readonly amountCents: number;
  readonly reason: 'duplicate' | 'fraudulent' | 'requested_by_customer';
  /** Ours: the ref_ id. */
  readonly reference: string;
}

export interface ProviderRefund {
  readonly id: string;
  readonly payment_id: string;
  readonly amount_cents: number;
  readonly status: 'pending' | 'succeeded' | 'failed' | 'canceled';
  readonly reference: string | null;
}

export interface ProviderSetup {
  readonly id: string;
  readonly client_secret: string;
}

export interface ProviderPaymentMethod {
  readonly id: string;
  readonly brand: string;
  readonly last4: string;
  readonly exp_month: number;
  readonly exp_year: number;
  readonly is_default: boolean;
}

/** A hint that something has changed: what it is now is fetched. */
export interface ProviderEvent {
  readonly id: string;
  readonly type: string;
  readonly object: { readonly kind: ProviderObject; readonly id: string };
  readonly created_at: Date;
}

/** `other`: nothing that billing keeps. */
export type ProviderObject =
  | 'customer'
  | 'checkout'
  | 'payment'
  | 'invoice'
  | 'subscription'
  | 'refund'
  | 'setup'
  | 'other';
