export { getUserEndpoint } from './get-user.ts';
export { listUsersEndpoint } from './list-users.ts';
export { changeMember, everyService, lockMember } from './member.store.ts';
export { requireGivable, requireRights } from './member-rules.ts';
export { removeUserEndpoint } from './remove-user.ts';
export { updateUserEndpoint } from './update-user.ts';
