export { endSessionEndpoint } from './end-session.ts';
export { getMeEndpoint } from './get-me.ts';
export { getMyPermissionsEndpoint } from './get-my-permissions.ts';
export { listSessionsEndpoint } from './list-sessions.ts';
export { updateMeEndpoint } from './update-me.ts';
export {
  countStaleUsers,
  deleteUser,
  findUser,
  findUserByEmail,
  insertUser,
  lockStaleUsers,
  lockUserByEmail,
  markEmailVerified,
  replacePassword,
  setPassword,
} from './user.store.ts';
