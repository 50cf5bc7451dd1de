export { type Entrance, readEntrance, requireEntrance } from './entrance.ts';
export {
  chooseMembership,
  claimsOf,
  expandServices,
  hasBilling,
  type Membership,
  type ServiceMap,
} from './membership.ts';
export { readRefreshToken, refreshTokenDays, sameHash } from './refresh-token.ts';
export {
  deleteSessionsUnusedSince,
  endSessions,
  findMembership,
  findMembershipPage,
  findMemberships,
  findOpenSessions,
  findRefreshToken,
  findSession,
  lockJudgedUser,
  readServiceMap,
  touchSession,
  useRefreshToken,
} from './session.store.ts';
export { sessionIdOf, viewAccount, viewUser, wireSessionId } from './session.view.ts';
export { createSessions, type Sessions, wrongCredentials } from './sessions.ts';
