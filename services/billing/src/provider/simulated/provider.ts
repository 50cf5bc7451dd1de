import { type PaymentProvider, ProviderError } from '../payment-provider.ts';
import { isSigned } from '../signature.ts';
import { createCheckout, expireCheckout } from './checkouts.ts';
import { createCredit } from './credits.ts';
import { readEvent } from './events.ts';
import { detachMethod } from './methods.ts';
import type { Customer } from './objects.ts';
import { priceFor } from './prices.ts';
import { createRefund, findRefund } from './refunds.ts';
import { createSetup, useSavedCard } from './setups.ts';
import type { Simulation } from './simulation.ts';
import { changePlan, setCancelAtPeriodEnd } from './subscriptions.ts';
import {
  type Links,
  toCheckout,
  toCredit,
  toDispute,
  toFraudWarning,
  toInvoice,
  toMethod,
  toPayment,
  toRefund,
  toSubscription,
} from './views.ts';

const eventPageSize = 100;

/** The provider port on top of the simulation. `wake` is called when there may be notifications to send. */
export function createProvider(
  simulation: Simulation,
  links: Links,
  secrets: readonly string[],
  wake: () => void,
): PaymentProvider {
  const { store } = simulation;
  const read = async <T>(work: () => T): Promise<T> => guarded(() => store.snapshot(work));
  /** Runs the work in a transaction, without an idempotency key. */
  const transact = async <T>(work: () => T): Promise<T> => guarded(() => store.transaction(work));
  const write = async <T>(operation: string, request: unknown, key: string, work: () => T): Promise<T> => {
    try {
      return guarded(() => store.once(key, operation, request, simulation.now(), work));
    } finally {
      wake();
    }
  };

  return {
    name: 'simulated',
    async createCustomer(customer, key) {
      const { id, balance } = await write('createCustomer', customer, key, () =>
        store.put<Customer>({
          ...simulation.begin('customer'),
          name: customer.name,
          balance: 0,
          invoice_settings: { default_payment_method: null },
          metadata: { account_id: customer.accountId },
        }),
      );
      return { id, balance_cents: balance };
    },
    getCustomer: (id) =>
      read(() => {
        const { balance } = store.get('customer', id);
        return { id, balance_cents: balance };
      }),
    createCheckout: async (checkout, key) =>
      toCheckout(await write('createCheckout', checkout, key, () => createCheckout(simulation, checkout)), links),
    expireCheckout: (id) =>
      transact(() => {
        const session = store.get('checkout.session', id);
        if (session.status !== 'open') throw new ProviderError('refused', `The checkout is ${session.status}.`);
        expireCheckout(simulation, session);
      }).finally(wake),
    getCheckout: (id) => read(() => toCheckout(store.get('checkout.session', id), links)),
    getPayment: (id) => read(() => toPayment(store.get('payment_intent', id), links)),
    getInvoice: (id) => read(() => toInvoice(store.get('invoice', id), links)),
    getSubscription: (id) => read(() => toSubscription(store.get('subscription', id))),
    setCancelAtPeriodEnd: async (id, cancel, key) =>
      toSubscription(
        await write('setCancelAtPeriodEnd', { id, cancel }, key, () => setCancelAtPeriodEnd(simulation, id, cancel)),
      ),
    changePlan: async (change, key) =>
      toSubscription(await write('changePlan', change, key, () => changePlan(simulation, change))),
    createRefund: async (refund, key) =>
      toRefund(await write('createRefund', refund, key, () => createRefund(simulation, refund))),
    getRefund: (id) => read(() => toRefund(store.get('refund', id))),
    findRefund: (paymentId, reference) =>
      read(() => {
        const refund = findRefund(simulation, paymentId, reference);
        return refund && toRefund(refund);
      }),
    getDispute: (id) => read(() => toDispute(store.get('dispute', id))),
    getFraudWarning: (id) => read(() => toFraudWarning(store.get('radar.early_fraud_warning', id))),
    createCredit: async (credit, key) =>
      toCredit(await write('createCredit', credit, key, () => createCredit(simulation, credit))),
    async *listCredits(customerId) {
      const { id } = await read(() => store.get('customer', customerId));
      yield* (await read(() => store.ownedBy('customer_balance_transaction', id))).map(toCredit);
    },
    listPaymentMethods: (customerId) =>
      read(() => {
        const { default_payment_method } = store.get('customer', customerId).invoice_settings;
        return store.ownedBy('payment_method', customerId).map((method) => toMethod(method, default_payment_method));
      }),
    async createSetupIntent(customerId, key) {
      const setup = await write('createSetupIntent', { customerId }, key, () => createSetup(simulation, customerId));
      return { id: setup.id, client_secret: setup.client_secret };
    },
    getSetup: (id) => read(() => ({ id, customer_id: store.get('setup_intent', id).customer })),
    useSavedCard: (setupId, key) => write('useSavedCard', { setupId }, key, () => useSavedCard(simulation, setupId)),
    detachPaymentMethod: (customerId, id) => transact(() => detachMethod(simulation, customerId, id)),
    syncPrices: (prices) =>
      transact(() => new Map(prices.map((entry) => [entry.plan_key, priceFor(simulation, entry).id] as const))),
    readWebhook: (body, signature) =>
      isSigned(body, signature, secrets, simulation.now()) ? readEvent(body.toString('utf8')) : undefined,
    async *listPayments(customerId) {
      const payments = await read(() => store.ownedBy('payment_intent', store.get('customer', customerId).id));
      for (const payment of payments) yield toPayment(payment, links);
    },
    async *listEvents(since) {
      const from = Math.floor(since.getTime() / 1000);
      for (let after = 0; ; ) {
        const page = guarded(() => store.eventsSince(from, after, eventPageSize));
        for (const { body, sequence } of page) {
          after = sequence;
          const event = readEvent(body);
          if (event) yield event;
        }
        if (page.length < eventPageSize) return;
      }
    },
  };
}

/** A failure of the store itself, for example a locked or a closed file, is temporary. */
function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof ProviderError) throw error;
    throw new ProviderError('unavailable', 'The simulated provider failed.', { cause: error });
  }
}
