export { actorOf, audit, type Deed, nobody, person, serviceActor } from './audit.store.ts';
export { listAuditLogEndpoint } from './list-audit-log.ts';
