export { checkedLedger, checkLedger } from './check-ledger.ts';
export { listMoneyEntriesEndpoint } from './list-money-entries.ts';
export { postEntry } from './money-entry.store.ts';
