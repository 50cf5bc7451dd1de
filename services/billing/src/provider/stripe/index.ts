import type { PaymentProvider } from '../payment-provider.ts';
import { createCheckout, getCheckout } from './checkouts.ts';
import { createStripeClient, type StripeClientOptions } from './client.ts';
import { createCustomer, getCustomer } from './customers.ts';
import { asked } from './errors.ts';
import { createWebhookReader, listEvents } from './events.ts';
import { createSetupIntent, detachPaymentMethod, listPaymentMethods } from './payment-methods.ts';
import { getInvoice, getPayment } from './payments.ts';
import { syncPrices } from './prices.ts';
import { createRefund, getRefund } from './refunds.ts';
import { changePlan, getSubscription, setCancelAtPeriodEnd } from './subscriptions.ts';

export interface StripeProviderOptions extends StripeClientOptions {
  /** Of the webhook endpoint, `whsec_…`: a notification signed with any of them is taken. */
  readonly webhookSecrets: readonly string[];
  readonly now?: () => Date;
}

export function createStripeProvider({ webhookSecrets, now, ...client }: StripeProviderOptions): PaymentProvider {
  const stripe = createStripeClient(client);
  return {
    name: 'stripe',
    createCustomer: (customer, key) => asked(() => createCustomer(stripe, customer, key)),
    getCustomer: (id) => asked(() => getCustomer(stripe, id)),
    createCheckout: (checkout, key) => asked(() => createCheckout(stripe, checkout, key)),
    getCheckout: (id) => asked(() => getCheckout(stripe, id)),
    getPayment: (id) => asked(() => getPayment(stripe, id)),
    getInvoice: (id) => asked(() => getInvoice(stripe, id)),
    getSubscription: (id) => asked(() => getSubscription(stripe, id)),
    setCancelAtPeriodEnd: (id, cancel, key) => asked(() => setCancelAtPeriodEnd(stripe, { id, cancel, key })),
    changePlan: (change, key) => asked(() => changePlan(stripe, change, key)),
    createRefund: (refund, key) => asked(() => createRefund(stripe, refund, key)),
    getRefund: (id) => asked(() => getRefund(stripe, id)),
    listPaymentMethods: (customerId) => asked(() => listPaymentMethods(stripe, customerId)),
    createSetupIntent: (customerId, key) => asked(() => createSetupIntent(stripe, customerId, key)),
    detachPaymentMethod: (customerId, id) => asked(() => detachPaymentMethod(stripe, customerId, id)),
    syncPrices: (prices) => asked(() => syncPrices(stripe, prices)),
    readWebhook: createWebhookReader(stripe, { secrets: webhookSecrets, now: now ?? (() => new Date()) }),
    listEvents: (since) => listEvents(stripe, since),
  };
}
