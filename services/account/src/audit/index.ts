export { actorOf, audit, type Deed, nobody, person, serviceActor } from './audit.store.ts';
export { changesIn } from './changes.ts';
export { listAuditLogEndpoint } from './list-audit-log.ts';
