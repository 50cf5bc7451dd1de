export { type Actor, actorOf, audit, type Deed, person, serviceActor } from './audit.store.ts';
export { listAuditLogEndpoint } from './list-audit-log.ts';
