export { catchUpGroups } from './catch-up-groups.ts';
export { knownGroups } from './known-group.store.ts';
export { onGroupDeleted } from './on-group-deleted.ts';
export { createRequireGroups, type RequireGroups } from './require-groups.ts';
