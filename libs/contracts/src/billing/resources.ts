import { z } from 'zod';
import { Cents, Timestamp, Tokens } from '../wire/formats.ts';
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
