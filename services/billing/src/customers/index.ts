export { getBillingSummaryEndpoint } from './get-billing-summary.ts';
export { onAccountCreated, onAccountPurged } from './on-account.ts';
