import {
  addPaymentMethod,
  cancelSubscription,
  changePlan,
  createCheckoutSession,
  getCheckoutSession,
  getPayment,
  getRefund,
  listPaymentMethods,
  removePaymentMethod,
  resumeSubscription,
} from '@attribution/contracts';
import type { StatementTable } from '@attribution/testing';
import type { Money } from './support-money.ts';
import { booked, subscribed } from './support-statements-rows.ts';
import { notification, sendWebhook } from './support-webhooks.ts';

/** Endpoints that read one thing. */
export const oneStatements = (money: () => Money): StatementTable => ({
  get_checkout_session: {
    statements: 1,
    async prepare(rows) {
      const tenant = await booked(money(), rows);
      const { id } = await money().checkout(tenant, 'tokens_1000');
      return () => tenant.owner.call(getCheckoutSession, { params: { id } });
    },
  },
  get_payment: {
    statements: 1,
    async prepare(rows) {
      const tenant = await booked(money(), rows);
      const [payment] = await money().paymentsOf(tenant);
      return () => tenant.owner.call(getPayment, { params: { id: payment?.id ?? '' } });
    },
  },
  get_refund: {
    statements: 1,
    async prepare(rows) {
      const tenant = await booked(money(), rows);
      const [refund] = await money().refundsOf(tenant);
      return () => tenant.owner.call(getRefund, { params: { id: refund?.id ?? '' } });
    },
  },
  list_payment_methods: {
    statements: 1,
    async prepare(rows) {
      const { owner } = await subscribed(money(), rows);
      return () => owner.call(listPaymentMethods);
    },
  },
});

/** Endpoints that call the provider and fetch the result. */
export const writingStatements = (money: () => Money): StatementTable => ({
  create_checkout_session: {
    statements: 14,
    async prepare(rows) {
      const { owner } = await booked(money(), rows);
      return () => owner.call(createCheckoutSession, { body: { mode: 'subscription', plan_key: 'starter' } });
    },
  },
  cancel_subscription: {
    statements: 12,
    async prepare(rows) {
      const { owner } = await subscribed(money(), rows);
      return () => owner.call(cancelSubscription);
    },
  },
  resume_subscription: {
    statements: 12,
    async prepare(rows) {
      const { owner } = await subscribed(money(), rows);
      await owner.call(cancelSubscription);
      return () => owner.call(resumeSubscription);
    },
  },
  change_plan: {
    statements: 22,
    async prepare(rows) {
      const { owner } = await subscribed(money(), rows);
      return () => owner.call(changePlan, { body: { plan_key: 'growth' } });
    },
  },
  add_payment_method: {
    statements: 5,
    async prepare(rows) {
      const { owner } = await subscribed(money(), rows);
      return () => owner.call(addPaymentMethod);
    },
  },
  remove_payment_method: {
    statements: 4,
    async prepare(rows) {
      const { owner } = await subscribed(money(), rows);
      const [method] = (await owner.call(listPaymentMethods)).body;
      return () => owner.call(removePaymentMethod, { params: { id: method?.id ?? '' } });
    },
  },
  create_refund: {
    statements: 25,
    async prepare(rows) {
      const tenant = await booked(money(), rows);
      await money().buy(tenant, 'tokens_1000');
      const [payment] = await money().paymentsOf(tenant);
      return () => money().refund(tenant, { payment_id: payment?.id ?? '', amount_cents: 100 });
    },
  },
  receive_stripe_webhook: {
    statements: 1,
    prepare: async () => async () => {
      const { status } = await sendWebhook(money(), notification('some.type', { id: 'x', object: 'other' }));
      return { status, body: undefined };
    },
  },
});
