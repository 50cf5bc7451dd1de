export {
  deleteAccount,
  findAccount,
  findAccountOrNone,
  findPlan,
  holdAccount,
  insertAccount,
  lockAccount,
  maxUsersOf,
} from './account.store.ts';
export { closeAccountEndpoint } from './close-account.ts';
export { getAccountEndpoint } from './get-account.ts';
export { listAccountTypesEndpoint } from './list-account-types.ts';
export { listAccountsEndpoint } from './list-accounts.ts';
export { listPlansEndpoint } from './list-plans.ts';
export { onSubscriptions } from './on-subscription.ts';
export { transferOwnershipEndpoint } from './transfer-ownership.ts';
export { updateAccountEndpoint } from './update-account.ts';
