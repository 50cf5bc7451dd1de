export { isKnownGroup } from './known-group.store.ts';
export { onGroupCreated, onGroupDeleted } from './on-group.ts';
