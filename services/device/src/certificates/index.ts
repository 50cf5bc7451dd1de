export { lockLive, revoke } from './certificate.store.ts';
export { useFirst } from './first-use.ts';
export { issueNext } from './issue-next.ts';
export { revokedEvents } from './told.ts';
export { usableCsr } from './usable-csr.ts';
