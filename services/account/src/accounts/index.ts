export { deleteAccount, findAccount, findPlan, insertAccount } from './account.store.ts';
export { listAccountTypesEndpoint } from './list-account-types.ts';
export { listPlansEndpoint } from './list-plans.ts';
