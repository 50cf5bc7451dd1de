export { listPlanPricesEndpoint } from './list-plan-prices.ts';
export { listUsagePricesEndpoint } from './list-usage-prices.ts';
