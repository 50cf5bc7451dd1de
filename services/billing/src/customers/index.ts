export {
  findProviderCustomerId,
  lockCustomer,
  setCreditBalance,
} from './customer.store.ts';
export { getBillingSummaryEndpoint } from './get-billing-summary.ts';
export { onAccountCreated, onAccountPurged } from './on-account.ts';
export { providerCustomer } from './provider-customer.ts';
