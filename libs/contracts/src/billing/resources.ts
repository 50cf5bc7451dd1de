import { z } from 'zod';
import { Cents, Count, Timestamp, Tokens } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';

export const BillingSummary = z
  .object({
    account_id: id('account'),
    provider_customer_id: z.string().nullable().meta({ description: 'At the payment provider', example: null }),
    credit_balance_cents: Cents.meta({ description: 'Store credit' }),
    currency: z.string().meta({ example: 'usd' }),
    active_subscription: z
      .object({
        plan_key: z.string().meta({ example: 'starter' }),
        status: z.string().meta({ example: 'active' }),
        cancel_at_period_end: z.boolean(),
        current_period_end: Timestamp.nullable(),
      })
      .nullable()
      .meta({ description: 'null: never subscribed' }),
  })
  .meta({ id: 'BillingSummary' });

export const PlanPrice = z
  .object({
    plan_key: z.string().meta({ example: 'starter' }),
    name: z.string().meta({ example: 'Starter' }),
    kind: z.enum(['token_pack', 'subscription']),
    amount_cents: Cents,
    currency: z.string().meta({ example: 'usd' }),
    interval: z.enum(['month', 'year']).nullable().meta({ description: 'null: paid once' }),
    token_amount: Tokens.meta({ description: 'Granted for each payment' }),
  })
  .meta({ id: 'PlanPrice' });

export const UsagePrice = z
  .object({
    action: z.string().meta({ example: 'score_ad' }),
    unit: z.string().meta({ example: 'ad' }),
    token_amount: Tokens.meta({ description: 'For each unit' }),
    description: z.string().meta({ example: 'Scoring one ad of a campaign' }),
  })
  .meta({ id: 'UsagePrice' });

const currency = z.string().meta({ example: 'usd' });
const planKey = z.string().min(1).max(100).meta({ example: 'tokens_1000' });

export const NewCheckoutSession = z
  .object({
    mode: z.enum(['payment', 'subscription']).meta({ description: 'payment: a token pack; subscription: a plan' }),
    plan_key: planKey,
    return_url: z
      .url({ protocol: /^https?$/, error: 'must be a URL that begins with http:// or https://' })
      .max(2000)
      .optional()
      .meta({
        description: 'Where the page leads back to; of an allowed origin',
        example: 'http://localhost:3000/billing',
      }),
  })
  .meta({ id: 'NewCheckoutSession', example: { mode: 'payment', plan_key: 'tokens_1000' } });

export const CheckoutSession = z
  .object({ id: id('checkout_session'), url: z.url().meta({ description: 'The page to pay on' }) })
  .meta({ id: 'CheckoutSession' });

export const CheckoutSessionStatus = z
  .object({ id: id('checkout_session'), status: z.enum(['open', 'complete', 'expired']) })
  .meta({ id: 'CheckoutSessionStatus' });

export const Payment = z
  .object({
    id: id('payment'),
    account_id: id('account'),
    kind: z.enum(['token_pack', 'subscription']),
    amount_cents: Cents,
    currency,
    token_amount: Tokens.meta({ description: 'Granted once it has succeeded' }),
    status: z.enum(['pending', 'succeeded', 'failed', 'partially_refunded', 'refunded', 'disputed']).meta({
      description: 'disputed: its bank asks for it back, or has taken it back',
    }),
    receipt_url: z.string().nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'Payment' });

export const RefundReason = z.enum(['duplicate', 'fraudulent', 'requested_by_customer']);

export const RefundDestination = z.enum(['payment_method', 'store_credit']);

export const Refund = z
  .object({
    id: id('refund'),
    payment_id: id('payment'),
    amount_cents: Cents,
    token_amount: Tokens.meta({ description: 'Taken back' }),
    destination: RefundDestination.meta({
      description: 'Where the money went back to; store_credit: it pays the next invoices',
    }),
    reason: RefundReason,
    status: z.enum(['pending', 'succeeded', 'failed']),
    created_at: Timestamp,
  })
  .meta({ id: 'Refund' });

const subscriptionStatus = z
  .enum(['incomplete', 'incomplete_expired', 'trialing', 'active', 'past_due', 'unpaid', 'canceled'])
  .meta({ example: 'active' });

export const SubscriptionSnapshot = z
  .object({
    status: subscriptionStatus,
    cancel_at_period_end: z.boolean(),
    current_period_end: Timestamp.nullable(),
  })
  .meta({ id: 'SubscriptionSnapshot' });

export const PlanChange = z.object({ plan_key: planKey }).meta({ id: 'PlanChange', example: { plan_key: 'growth' } });

export const PlanChangeResult = z
  .object({
    plan_key: planKey,
    change_type: z.enum(['upgrade', 'downgrade']),
    ...SubscriptionSnapshot.shape,
  })
  .meta({ id: 'PlanChangeResult' });

export const MoneyEntry = z
  .object({
    id: id('ledger_entry'),
    seq: Count.meta({ description: 'Of the account, from 1 without a gap' }),
    kind: z.enum(['payment', 'credit', 'refund', 'dispute', 'adjustment']).meta({
      description: 'credit: store credit that an invoice used; below 0: that it gave. dispute: a bank took it back',
    }),
    amount_cents: Cents.meta({ description: 'Signed: what came in is above 0' }),
    balance_after_cents: Cents.meta({ description: 'The sum up to here' }),
    currency,
    description: z.string(),
    payment_id: id('payment').nullable(),
    refund_id: id('refund').nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'MoneyEntry' });

export const SetupIntent = z
  .object({
    id: z.string().meta({ description: 'At the payment provider', example: 'seti_1Nx' }),
    client_secret: z.string(),
  })
  .meta({ id: 'SetupIntent' });

export const PaymentMethod = z
  .object({
    id: z.string().meta({ description: 'At the payment provider', example: 'pm_1Nx' }),
    brand: z.string().meta({ example: 'visa' }),
    last4: z.string().meta({ example: '4242' }),
    exp_month: z.int().min(1).max(12),
    exp_year: z.int(),
    is_default: z.boolean(),
  })
  .meta({ id: 'PaymentMethod' });
