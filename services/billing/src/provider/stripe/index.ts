import type { PaymentProvider } from '../payment-provider.ts';
import { createCheckout, expireCheckout, getCheckout } from './checkouts.ts';
import { createStripeClient, type StripeClientOptions } from './client.ts';
import { createCredit, listCredits } from './credits.ts';
import { createCustomer, getCustomer } from './customers.ts';
import { getDispute, getFraudWarning } from './disputes.ts';
import { callStripe, callStripeEach, callStripeWithin } from './errors.ts';
import { createWebhookReader, listEvents } from './events.ts';
import { getInvoice } from './invoices.ts';
import {
  createSetupIntent,
  detachPaymentMethod,
  getSetup,
  listPaymentMethods,
  useSavedCard,
} from './payment-methods.ts';
import { getPayment, listPayments } from './payments.ts';
import { syncPrices } from './prices.ts';
import { createRefund, findRefund, getRefund } from './refunds.ts';
import { changePlan, getSubscription, setCancelAtPeriodEnd } from './subscriptions.ts';

export interface StripeProviderOptions extends StripeClientOptions {
  /** Secrets of the webhook endpoint (`whsec_…`). A notification that is signed with any of them is accepted. */
  readonly webhookSecrets: readonly string[];
  /** What a token pack may be paid with; cards by default. */
  readonly packMethods?: readonly string[];
  readonly now?: () => Date;
  /**
   * The deadline of an operation that a person waits for. It is below the 30 s of the gateway. Price synchronisation
   * and lists have no deadline.
   */
  readonly deadlineMs?: number;
}

export function createStripeProvider(options: StripeProviderOptions): PaymentProvider {
  const { webhookSecrets, packMethods = ['card'], now, deadlineMs = 25_000, ...client } = options;
  const stripe = createStripeClient(client);
  const ask = <T>(call: () => Promise<T>) => callStripeWithin(deadlineMs, call);
  return {
    name: 'stripe',
    createCustomer: (customer, key) => ask(() => createCustomer(stripe, customer, key)),
    getCustomer: (id) => ask(() => getCustomer(stripe, id)),
    createCheckout: (checkout, key) => ask(() => createCheckout(stripe, checkout, { key, packMethods })),
    getCheckout: (id) => ask(() => getCheckout(stripe, id)),
    expireCheckout: (id) => ask(() => expireCheckout(stripe, id)),
    getPayment: (id) => ask(() => getPayment(stripe, id)),
    getInvoice: (id) => ask(() => getInvoice(stripe, id)),
    getSubscription: (id) => ask(() => getSubscription(stripe, id)),
    setCancelAtPeriodEnd: (id, cancel, key) => ask(() => setCancelAtPeriodEnd(stripe, { id, cancel, key })),
    changePlan: (change, key) => ask(() => changePlan(stripe, change, key)),
    createRefund: (refund, key) => ask(() => createRefund(stripe, refund, key)),
    getRefund: (id) => ask(() => getRefund(stripe, id)),
    findRefund: (paymentId, reference) => ask(() => findRefund(stripe, paymentId, reference)),
    getDispute: (id) => ask(() => getDispute(stripe, id)),
    getFraudWarning: (id) => ask(() => getFraudWarning(stripe, id)),
    createCredit: (credit, key) => ask(() => createCredit(stripe, credit, key)),
    listCredits: (customerId) => callStripeEach(() => listCredits(stripe, customerId)),
    listPaymentMethods: (customerId) => ask(() => listPaymentMethods(stripe, customerId)),
    createSetupIntent: (customerId, key) => ask(() => createSetupIntent(stripe, customerId, key)),
    getSetup: (id) => ask(() => getSetup(stripe, id)),
    useSavedCard: (setupId, key) => ask(() => useSavedCard(stripe, setupId, key)),
    detachPaymentMethod: (customerId, id) => ask(() => detachPaymentMethod(stripe, customerId, id)),
    syncPrices: (prices) => callStripe(() => syncPrices(stripe, prices)),
    readWebhook: createWebhookReader(stripe, { secrets: webhookSecrets, now: now ?? (() => new Date()) }),
    listPayments: (customerId) => callStripeEach(() => listPayments(stripe, customerId)),
    listEvents: (since, progress) => callStripeEach(() => listEvents(stripe, since, progress)),
  };
}
