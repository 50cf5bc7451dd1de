import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { id } from '../wire/ids.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import {
  BillingSummary,
  CheckoutSession,
  CheckoutSessionStatus,
  MoneyEntry,
  NewCheckoutSession,
  Payment,
  PaymentMethod,
  PlanChange,
  PlanChangeResult,
  PlanPrice,
  Refund,
  SetupIntent,
  SubscriptionSnapshot,
  UsagePrice,
} from './resources.ts';

const service = 'billing';
const access = { credential: 'any', billing: true } as const;

export const getBillingSummary = endpoint({
  operation: 'get_billing_summary',
  method: 'GET',
  path: '/v2/billing',
  service,
  summary: 'Billing summary',
  access,
  success: { status: 200, description: 'The summary', body: BillingSummary },
});

export const listPlanPrices = endpoint({
  operation: 'list_plan_prices',
  method: 'GET',
  path: '/v2/plan-prices',
  service,
  summary: 'Prices of plans and token packs',
  access,
  success: { status: 200, description: 'All active prices', body: z.array(PlanPrice) },
});

export const listUsagePrices = endpoint({
  operation: 'list_usage_prices',
  method: 'GET',
  path: '/v2/usage-prices',
  service,
  summary: 'What each action costs in tokens',
  access,
  success: { status: 200, description: 'All active prices', body: z.array(UsagePrice) },
});

const charging = { ...access, roles: ['owner', 'admin'] } as const;

export const createCheckoutSession = endpoint({
  operation: 'create_checkout_session',
  method: 'POST',
  path: '/v2/checkout-sessions',
  service,
  summary: 'Buy a token pack, or subscribe to a plan',
  description: 'Answers the page to pay on. Tokens are granted once it is paid.',
  access: charging,
  body: NewCheckoutSession,
  idempotent: true,
  external: true,
  success: { status: 201, description: 'The page to pay on', body: CheckoutSession },
  problems: ['not-found', 'conflict'],
});

export const getCheckoutSession = endpoint({
  operation: 'get_checkout_session',
  method: 'GET',
  path: '/v2/checkout-sessions/{id}',
  service,
  summary: 'How a checkout stands',
  access,
  params: z.object({ id: id('checkout_session') }),
  success: { status: 200, description: 'Its status', body: CheckoutSessionStatus },
});

export const listPayments = endpoint({
  operation: 'list_payments',
  method: 'GET',
  path: '/v2/payments',
  service,
  summary: 'Payments, newest first',
  access,
  query: z.object(pageQuery),
  success: { status: 200, description: 'A page of payments', body: Page(Payment) },
});

export const getPayment = endpoint({
  operation: 'get_payment',
  method: 'GET',
  path: '/v2/payments/{id}',
  service,
  summary: 'A payment',
  access,
  params: z.object({ id: id('payment') }),
  success: { status: 200, description: 'The payment', body: Payment },
});

export const listRefunds = endpoint({
  operation: 'list_refunds',
  method: 'GET',
  path: '/v2/refunds',
  service,
  summary: 'Refunds, newest first',
  access,
  query: z.object(pageQuery),
  success: { status: 200, description: 'A page of refunds', body: Page(Refund) },
});

export const getRefund = endpoint({
  operation: 'get_refund',
  method: 'GET',
  path: '/v2/refunds/{id}',
  service,
  summary: 'A refund',
  access,
  params: z.object({ id: id('refund') }),
  success: { status: 200, description: 'The refund', body: Refund },
});

export const cancelSubscription = endpoint({
  operation: 'cancel_subscription',
  method: 'POST',
  path: '/v2/billing/subscription/cancel',
  service,
  summary: 'Cancel the subscription at the end of its period',
  description: 'Done twice it changes nothing. Without a live subscription it answers a cancelled one.',
  access,
  external: true,
  success: { status: 200, description: 'The subscription', body: SubscriptionSnapshot },
  problems: ['not-found'],
});

export const resumeSubscription = endpoint({
  operation: 'resume_subscription',
  method: 'POST',
  path: '/v2/billing/subscription/resume',
  service,
  summary: 'Take a cancellation back',
  description: 'Until the period has ended. With nothing to take back it changes nothing.',
  access,
  external: true,
  success: { status: 200, description: 'The subscription', body: SubscriptionSnapshot },
  problems: ['not-found'],
});

export const changePlan = endpoint({
  operation: 'change_plan',
  method: 'POST',
  path: '/v2/billing/subscription/change-plan',
  service,
  summary: 'Change the plan of the subscription',
  description:
    'To a higher price: at once, and the difference is invoiced; it is in force once that is paid. If the bank asks the holder of the card first, the status is incomplete, the plan stays, and a mail leads to the page; after 23 hours the change lapses. To a lower one: at once, without an invoice; the next renewal is at the new price.',
  access,
  body: PlanChange,
  idempotent: true,
  external: true,
  success: { status: 200, description: 'The subscription on the plan that is paid for', body: PlanChangeResult },
  problems: ['not-found', 'conflict'],
});

export const listMoneyEntries = endpoint({
  operation: 'list_money_entries',
  method: 'GET',
  path: '/v2/billing/ledger',
  service,
  summary: 'The money ledger, newest first',
  access,
  query: z.object(pageQuery),
  success: { status: 200, description: 'A page of entries', body: Page(MoneyEntry) },
});

export const listPaymentMethods = endpoint({
  operation: 'list_payment_methods',
  method: 'GET',
  path: '/v2/payment-methods',
  service,
  summary: 'Saved payment methods',
  access,
  success: { status: 200, description: 'All of them', body: z.array(PaymentMethod) },
});

export const addPaymentMethod = endpoint({
  operation: 'add_payment_method',
  method: 'POST',
  path: '/v2/payment-methods',
  service,
  summary: 'Begin to add a payment method',
  description: 'Once its card is saved, what the account owes is charged to it.',
  access,
  idempotent: 'secret',
  external: true,
  success: { status: 201, description: 'For the page that takes the card', body: SetupIntent },
});

export const removePaymentMethod = endpoint({
  operation: 'remove_payment_method',
  method: 'DELETE',
  path: '/v2/payment-methods/{id}',
  service,
  summary: 'Remove a saved payment method',
  access,
  params: z.object({ id: z.string().max(255) }),
  external: true,
  success: { status: 204, description: 'It is gone' },
});
