export { activePrice } from './active-price.ts';
export { getUsagePriceEndpoint } from './get-usage-price.ts';
export { listPlanPricesEndpoint } from './list-plan-prices.ts';
export { listUsagePricesEndpoint } from './list-usage-prices.ts';
export { findPlanPrices, findPrices, type PlanPriceRow } from './price.store.ts';
export { syncCatalogue } from './sync-catalogue.ts';
