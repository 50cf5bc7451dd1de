export { onGroupCreated, onGroupDeleted } from './on-group.ts';
export { createRequireGroups, type RequireGroups } from './require-groups.ts';
