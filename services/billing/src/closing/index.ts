export { isClosed } from './closed.store.ts';
export { endLeftOvers } from './end-left-overs.ts';
export { onAccountClosed } from './on-account-closed.ts';
