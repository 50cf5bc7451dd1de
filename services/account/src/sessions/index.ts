export { type Entrance, readEntrance, requireEntrance } from './entrance.ts';
export { chooseMembership, claimsOf, expandServices, hasBilling, type Membership } from './membership.ts';
export { readRefreshToken, refreshTokenDays, sameHash } from './refresh-token.ts';
export {
  deleteSessionsUnusedSince,
  endSessions,
  findMembership,
  findMemberships,
  findRefreshToken,
  touchSession,
  useRefreshToken,
} from './session.store.ts';
export { viewUser } from './session.view.ts';
export { createSessions, type Sessions, wrongCredentials } from './sessions.ts';
