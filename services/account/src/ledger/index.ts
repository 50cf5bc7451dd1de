export { getBalanceEndpoint } from './get-balance.ts';
export { postGrant } from './ledger.store.ts';
export { listLedgerEndpoint } from './list-ledger.ts';
