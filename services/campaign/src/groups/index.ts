export { catchUpGroups } from './catch-up-groups.ts';
export { isKnownGroup, knownGroups } from './known-group.store.ts';
