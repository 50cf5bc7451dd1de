export { createGroupEndpoint } from './create-group.ts';
export { deleteGroupEndpoint } from './delete-group.ts';
export { getGroupEndpoint } from './get-group.ts';
export { type GroupScope, lockGroup } from './group.store.ts';
export { listGroupsEndpoint } from './list-groups.ts';
export { lookUpGroupsEndpoint } from './look-up-groups.ts';
export { onAccountCreated, onAccountPurged } from './on-account.ts';
export { scopeOf } from './scope.ts';
export { updateGroupEndpoint } from './update-group.ts';
