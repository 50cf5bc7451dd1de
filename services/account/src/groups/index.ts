export { onGroupDeleted } from './on-group-deleted.ts';
export { createRequireGroups, type RequireGroups } from './require-groups.ts';
