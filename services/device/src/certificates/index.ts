export { isLive, revoke } from './certificate.store.ts';
export { useFirst } from './first-use.ts';
export { createIssueNext } from './issue-next.ts';
export { findUnused } from './issuing.store.ts';
export { revokedEvents } from './told.ts';
export { usableCsr } from './usable-csr.ts';
