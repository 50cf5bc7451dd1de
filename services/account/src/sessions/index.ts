export { type Entrance, readEntrance, requireEntrance } from './entrance.ts';
export {
  chooseMembership,
  claimsOf,
  expandServices,
  hasBilling,
  homeOf,
  type Membership,
  type ServiceMap,
} from './membership.ts';
export { lockSignIn, othersOf, requireOpenSession, sessionEnded } from './own-session.ts';
export {
  isSuspectReuse,
  looksLikeAccessToken,
  readRefreshToken,
  refreshTokenDays,
  sameHash,
  sessionDays,
  sessionEnd,
} from './refresh-token.ts';
export { createRefusals, type Refusals } from './refusals.ts';
export {
  endSessions,
  findMembership,
  findMembershipPage,
  findMemberships,
  findOpenSessions,
  findRefreshToken,
  findSession,
  findTokenUse,
  lockPlace,
  readServiceMap,
  setMfaPassed,
  touchSession,
  unusedSessions,
  useRefreshToken,
} from './session.store.ts';
export { sessionIdOf, viewAccount, viewUser, wireSessionId } from './session.view.ts';
export { createSessions, mfaTokenTtl, type Sessions } from './sessions.ts';
export { requireStanding } from './standing.ts';
