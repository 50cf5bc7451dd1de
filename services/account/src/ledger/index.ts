export { captureTokenHoldEndpoint } from './capture-token-hold.ts';
export { createTokenGrantEndpoint } from './create-token-grant.ts';
export { createTokenHoldEndpoint } from './create-token-hold.ts';
export { expireGrants, expireHolds } from './expire-tokens.ts';
export { getBalanceEndpoint } from './get-balance.ts';
export { defaultPriority, postGrant, purchaseKey } from './grant.store.ts';
export { listLedgerEndpoint } from './list-ledger.ts';
export { giveBackRefunded, type Refund, releaseRefund, takeRefunded } from './refund-tokens.ts';
export { voidTokenHoldEndpoint } from './void-token-hold.ts';
