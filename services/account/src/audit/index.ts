export { actorOf, audit, type AuditRecord, unknownActor, person, serviceActor } from './audit.store.ts';
export { changesIn } from './changes.ts';
export { listAuditLogEndpoint } from './list-audit-log.ts';
