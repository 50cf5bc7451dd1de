import {
  addPaymentMethod,
  type Call,
  type Client,
  cancelSubscription,
  changePlan,
  createCheckoutSession,
  type Endpoint,
  getBillingSummary,
  getCheckoutSession,
  getPayment,
  getRefund,
  listMoneyEntries,
  listPaymentMethods,
  listPayments,
  listPlanPrices,
  listRefunds,
  listUsagePrices,
  receiveStripeWebhook,
  removePaymentMethod,
  resumeSubscription,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { newOwner, type TestPlatform } from './support.ts';
import { buy } from './support-billing.ts';

export type Answer = Promise<{ readonly status: number }>;
/** For each endpoint and each error status of its contract, a request that gets it. */
export type ResponsesByStatus = Readonly<Record<string, Readonly<Record<number, () => Answer>>>>;

interface People {
  readonly platform: () => TestPlatform;
  readonly owner: () => Client;
  /** Has no billing access. */
  readonly member: () => Client;
}

/** For the endpoints of §4.4. */
export function ofBilling({ platform, owner, member }: People): ResponsesByStatus {
  const refused = <const E extends Endpoint>(endpoint: E, input?: Call<E>) => ({
    401: () => platform().client.call(endpoint, input),
    403: () => member().call(endpoint, input),
  });
  const paged = (endpoint: typeof listPayments | typeof listRefunds | typeof listMoneyEntries) => ({
    400: () => owner().call(endpoint as Endpoint, { query: { limit: 0 } }),
    ...refused(endpoint as Endpoint),
  });
  const read = (endpoint: typeof getPayment | typeof getRefund | typeof getCheckoutSession, id: string) => ({
    ...refused(endpoint as Endpoint, { params: { id } as never }),
    404: () => owner().call(endpoint as Endpoint, { params: { id } as never }),
  });
  const keyed = (key: string) => owner().call(addPaymentMethod, { headers: { 'idempotency-key': key } });
  const pack = { mode: 'payment', plan_key: 'tokens_1000' } as const;
  const empty = { body: {} as never };

  async function subscribed() {
    const { client, account_id } = await newOwner(platform());
    await buy(client, 'starter');
    return { client, account_id };
  }
  /** An owner whose subscription the provider does not know. */
  async function forgotten(): Promise<Client> {
    const { client, account_id } = await subscribed();
    const sql = `UPDATE subscriptions SET provider_subscription_id = 'sub_forgotten' WHERE account_id = '${account_id}'`;
    await platform().rows('billing', sql);
    return client;
  }

  return {
    get_billing_summary: refused(getBillingSummary),
    list_plan_prices: refused(listPlanPrices),
    list_usage_prices: refused(listUsagePrices),
    create_checkout_session: {
      400: () => owner().call(createCheckoutSession, empty),
      ...refused(createCheckoutSession, { body: pack }),
      404: () => owner().call(createCheckoutSession, { body: { ...pack, plan_key: 'tokens_7' } }),
      409: async () => {
        const { client } = await subscribed();
        return client.call(createCheckoutSession, { body: { mode: 'subscription', plan_key: 'growth' } });
      },
    },
    get_checkout_session: read(getCheckoutSession, newId('checkout_session')),
    list_payments: paged(listPayments),
    get_payment: read(getPayment, newId('payment')),
    list_refunds: paged(listRefunds),
    get_refund: read(getRefund, newId('refund')),
    list_money_entries: paged(listMoneyEntries),
    cancel_subscription: {
      ...refused(cancelSubscription),
      404: async () => (await forgotten()).call(cancelSubscription),
    },
    resume_subscription: { ...refused(resumeSubscription), 404: () => owner().call(resumeSubscription) },
    change_plan: {
      400: () => owner().call(changePlan, { body: { plan_key: 'tokens_1000' } }),
      ...refused(changePlan, { body: { plan_key: 'growth' } }),
      404: () => owner().call(changePlan, { body: { plan_key: 'growth' } }),
      409: async () => (await subscribed()).client.call(changePlan, { body: { plan_key: 'starter' } }),
    },
    list_payment_methods: refused(listPaymentMethods),
    add_payment_method: {
      400: () => keyed('two words'),
      ...refused(addPaymentMethod),
      409: async () => {
        await keyed('once');
        return keyed('once');
      },
    },
    remove_payment_method: {
      ...refused(removePaymentMethod, { params: { id: 'pm_none' } }),
      404: () => owner().call(removePaymentMethod, { params: { id: 'pm_none' } }),
    },
    receive_stripe_webhook: { 400: () => platform().client.call(receiveStripeWebhook) },
  };
}
