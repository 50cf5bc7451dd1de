import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { Cents } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { Refund, RefundDestination, RefundReason, UsagePrice } from './resources.ts';

const service = 'billing';

export const getUsagePrice = endpoint({
  operation: 'get_usage_price',
  method: 'GET',
  path: '/internal/v2/usage-prices/{action}',
  service,
  summary: 'What an action costs in tokens',
  access: { credential: 'internal', callers: ['campaign'] },
  params: z.object({ action: z.string().max(100) }),
  success: { status: 200, description: 'Its price', body: UsagePrice },
});

export const createRefund = endpoint({
  operation: 'create_refund',
  method: 'POST',
  path: '/internal/v2/refunds',
  service,
  summary: 'Give a payment back, or a part of it',
  description:
    'The tokens of that part are held before the provider is asked: what was spent is not paid back. A repeated idempotency_key answers the first refund.',
  access: { credential: 'internal', callers: ['billing'] },
  body: z.object({
    account_id: id('account'),
    payment_id: id('payment'),
    idempotency_key: z.string().min(1).max(200),
    amount_cents: Cents.positive().nullable().default(null).meta({ description: 'null: all that is left of it' }),
    destination: RefundDestination.default('payment_method'),
    reason: RefundReason.default('requested_by_customer'),
  }),
  success: { status: 201, description: 'The refund', body: Refund },
  problems: ['insufficient-balance', 'not-found', 'conflict', 'unprocessable'],
});
