export { auditActor as actorOf } from '@attribution/auth';
export { type AuditRecord, audit, keepEntries, person, serviceActor, unknownActor } from './audit.store.ts';
export { changesIn } from './changes.ts';
export { listAuditLogEndpoint } from './list-audit-log.ts';
export { onAuditRecords } from './on-audit-records.ts';
export { recordRefusalsEndpoint } from './record-refusals.ts';
export { auditRetention, oldRecords } from './retention.ts';
