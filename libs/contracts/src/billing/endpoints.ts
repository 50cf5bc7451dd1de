import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { BillingSummary, PlanPrice, UsagePrice } from './resources.ts';

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
