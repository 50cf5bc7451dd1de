export { type AuditRecord, actorOf, audit, person, serviceActor, unknownActor } from './audit.store.ts';
export { changesIn } from './changes.ts';
export { listAuditLogEndpoint } from './list-audit-log.ts';
