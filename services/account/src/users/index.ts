export { getMeEndpoint } from './get-me.ts';
export { getMyPermissionsEndpoint } from './get-my-permissions.ts';
export {
  deleteUser,
  findUser,
  findUserByEmail,
  insertUser,
  lockStaleUsers,
  markEmailVerified,
  setPassword,
} from './user.store.ts';
