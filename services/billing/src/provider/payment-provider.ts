/**
 * The port to the payment provider. The terms are Stripe's; amounts are integer cents. Drivers throw `ProviderError`
 * for every failure. The caller of a write chooses a `key` before the call: a write repeated under the same key is
 * done once and returns the same result.
 */
export interface PaymentProvider {
  readonly name: 'stripe' | 'simulated';
  createCustomer(customer: { accountId: string; name: string }, key: string): Promise<ProviderCustomer>;
  getCustomer(id: string): Promise<ProviderCustomer>;
  /** Creates a page on which the customer pays a price once, or starts a subscription. */
  createCheckout(checkout: NewCheckout, key: string): Promise<ProviderCheckout>;
  getCheckout(id: string): Promise<ProviderCheckout>;
  /** Closes the page, so that it can no longer be paid. Throws `refused` when it is not open. */
  expireCheckout(id: string): Promise<void>;
  getPayment(id: string): Promise<ProviderPayment>;
  getInvoice(id: string): Promise<ProviderInvoice>;
  getSubscription(id: string): Promise<ProviderSubscription>;
  setCancelAtPeriodEnd(id: string, cancel: boolean, key: string): Promise<ProviderSubscription>;
  /**
   * `upgrade` invoices the difference at once and takes effect only if it is paid. While its payment waits for the holder of
   * the card it is the pending plan, for 23 hours. `downgrade` creates no invoice.
   * Throws `refused` when the subscription is neither on the plan to change from nor already on the other one.
   */
  changePlan(change: PlanChange, key: string): Promise<ProviderSubscription>;
  createRefund(refund: NewRefund, key: string): Promise<ProviderRefund>;
  getRefund(id: string): Promise<ProviderRefund>;
  /** Finds a refund of a payment by our reference. */
  findRefund(paymentId: string, reference: string): Promise<ProviderRefund | undefined>;
  getDispute(id: string): Promise<ProviderDispute>;
  getFraudWarning(id: string): Promise<ProviderFraudWarning>;
  /** Adds store credit, which the customer's next invoices use before they charge a card. */
  createCredit(credit: NewCredit, key: string): Promise<ProviderCredit>;
  /** All credit that was added with a reference of ours, in any order. */
  listCredits(customerId: string): AsyncIterable<ProviderCredit>;
  listPaymentMethods(customerId: string): Promise<readonly ProviderPaymentMethod[]>;
  /** Lets a browser add a payment method. */
  createSetupIntent(customerId: string, key: string): Promise<ProviderSetup>;
  getSetup(id: string): Promise<{ readonly id: string; readonly customer_id: string }>;
  /**
   * From now on charges the customer to the card of a finished setup, including running subscriptions. An unfinished
   * setup changes nothing.
   */
  useSavedCard(setupId: string, key: string): Promise<void>;
  /** Throws `not_found` when the customer does not have this payment method. */
  detachPaymentMethod(customerId: string, id: string): Promise<void>;
  /**
   * Creates the prices at the provider, or finds existing ones by their keys. Returns the provider's ids by plan key.
   */
  syncPrices(prices: readonly CatalogueEntry[]): Promise<ReadonlyMap<string, string>>;
  /** Returns undefined when the signature is wrong or too old. */
  readWebhook(body: Buffer, signature: string | undefined): ProviderEvent | undefined;
  /** All payments of a customer, in any order, for the ledger check. */
  listPayments(customerId: string): AsyncIterable<ProviderPayment>;
  /**
   * Notifications since a time, in any order, to find those that were never delivered. `progress` is told after each page
   * where a later reading may go on.
   */
  listEvents(since: Date, progress?: Progress): AsyncIterable<ProviderEvent>;
}

/** How far a list of several pages was read. */
export interface Progress {
  /** Where to go on; null to begin. */
  readonly from: string | null;
  /** Called when everything before this cursor has been dealt with. */
  readonly passed: (cursor: string) => Promise<void>;
}

export class ProviderError extends Error {
  /**
   * `not_found`: the provider has no such object. `declined`: the card network declined. `refused`: the request can
   * never succeed. `unavailable`: the request may succeed when it is repeated under the same key.
   */
  readonly kind: 'not_found' | 'declined' | 'refused' | 'unavailable';

  constructor(kind: ProviderError['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export interface ProviderCustomer {
  readonly id: string;
  /** Negative when the customer has credit for future invoices. */
  readonly balance_cents: number;
}

export interface CatalogueEntry {
  readonly plan_key: string;
  readonly name: string;
  readonly amount_cents: number;
  readonly currency: string;
  /** null for a one-time price. */
  readonly interval: 'month' | 'year' | null;
}

export interface NewCheckout {
  readonly customerId: string;
  readonly mode: 'payment' | 'subscription';
  readonly price: CatalogueEntry;
  readonly returnUrl: string;
  /**
   * `reference` and `accountId` are our ids (cs_…, acc_…). The provider copies them to every object that results from
   * the checkout.
   */
  readonly reference: string;
  readonly accountId: string;
}

export interface ProviderCheckout {
  readonly id: string;
  /** `open` also while the money of a finished page is on its way, as after a debit of a bank account. */
  readonly status: 'open' | 'complete' | 'expired';
  /** null unless the page is open. */
  readonly url: string | null;
  /** In mode `payment`, once the payment exists. */
  readonly payment_id: string | null;
  /** In mode `subscription`, once the subscription exists. */
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
  /** Whether there is, or was, a dispute of it. */
  readonly disputed: boolean;
  /** Whether it waits for the holder of the card to confirm it (3-D Secure). */
  readonly needs_holder: boolean;
  readonly currency: string;
  readonly receipt_url: string | null;
  /** The reason of the failure, for the customer. */
  readonly failure: string | null;
  /** The invoice of a subscription that it pays. */
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
  /** `create`: the first invoice; `cycle`: a renewal; `update`: a change of plan. */
  readonly reason: 'create' | 'cycle' | 'update' | 'other';
  readonly amount_paid_cents: number;
  /** Including the amount that was paid from credit. */
  readonly total_cents: number;
  readonly currency: string;
  readonly payment_id: string | null;
  readonly receipt_url: string | null;
  /** The page on which an open one can be paid. */
  readonly page_url: string | null;
  /** The plan of the main line. */
  readonly plan_key: string;
  readonly lines: readonly ProviderInvoiceLine[];
  readonly account_id: string;
  readonly created_at: Date;
}

export interface ProviderInvoiceLine {
  readonly plan_key: string;
  /** Negative for a credit for unused time on a plan. */
  readonly amount_cents: number;
  /** Whether the line is for a part of a period, because the plan was changed within it. */
  readonly proration: boolean;
}

export interface ProviderSubscription {
  readonly id: string;
  readonly customer_id: string;
  readonly status: 'incomplete' | 'incomplete_expired' | 'trialing' | 'active' | 'past_due' | 'unpaid' | 'canceled';
  readonly plan_key: string;
  readonly cancel_at_period_end: boolean;
  readonly current_period_end: Date | null;
  /** The plan that takes effect once its payment is confirmed. */
  readonly pending_plan_key: string | null;
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
  /** Our refund id (ref_…). */
  readonly reference: string;
}

export interface ProviderRefund {
  readonly id: string;
  readonly payment_id: string;
  readonly amount_cents: number;
  readonly status: 'pending' | 'succeeded' | 'failed' | 'canceled';
  readonly reason: NewRefund['reason'];
  readonly reference: string | null;
}

/** A payer's bank asks for a payment back. */
export interface ProviderDispute {
  readonly id: string;
  readonly payment_id: string;
  readonly amount_cents: number;
  /** `won`: the money stays. `lost`: it is gone. An inquiry, before a dispute proper, is one too. */
  readonly status: 'open' | 'won' | 'lost';
  /** Of the card network, such as `fraudulent`. */
  readonly reason: string;
  readonly created_at: Date;
}

/** A bank suspects that a payment is not its holder's, and may dispute it. */
export interface ProviderFraudWarning {
  readonly id: string;
  readonly payment_id: string;
  /** Whether a refund can still prevent a dispute. */
  readonly actionable: boolean;
}

export interface NewCredit {
  readonly customerId: string;
  readonly amountCents: number;
  readonly currency: string;
  /** For people. */
  readonly description: string;
  /** Our refund id (ref_…). */
  readonly reference: string;
}

export interface ProviderCredit {
  readonly id: string;
  readonly amount_cents: number;
  readonly reference: string;
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

/** A hint that an object has changed. Its current state is fetched. */
export interface ProviderEvent {
  readonly id: string;
  readonly type: string;
  readonly object: { readonly kind: ProviderObject; readonly id: string };
  readonly created_at: Date;
}

/** `other` is an object that billing does not store. */
export type ProviderObject =
  | 'customer'
  | 'checkout'
  | 'payment'
  | 'invoice'
  | 'subscription'
  | 'refund'
  | 'dispute'
  | 'fraud_warning'
  | 'setup'
  | 'other';
