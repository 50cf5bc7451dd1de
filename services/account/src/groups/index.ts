export { onGroupCreated, onGroupDeleted, onGroupUpdated } from './on-group.ts';
export { createRequireGroups, type RequireGroups } from './require-groups.ts';
