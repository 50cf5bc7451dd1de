export { inTrace } from '@attribution/tracing';
export { changedFields, markAudited, type NoteChanges, newAuditEvent } from './audit.ts';
export { callSettings } from './calls.ts';
export {
  defineService,
  type OpenDependencies,
  type ServiceContents,
  type ServiceDefinition,
} from './define-service.ts';
export { createFileBudget } from './file-budget.ts';
export { follow } from './follow.ts';
export { followGroups } from './follow-groups.ts';
export {
  Chosen,
  type Committed,
  type Implementation,
  implement,
  implementPrepared,
  implementWrite,
  type WriteEndpoint,
  type WriteHandler,
  type WriteTransaction,
} from './implement.ts';
export type { Job } from './jobs.ts';
export { ledgerCheck } from './ledger-check.ts';
export type { Operations } from './operations.ts';
export { runService } from './process.ts';
export { type Counts, commonPurges, type Forgettable, type Purge, purgeOf } from './purges.ts';
export { databaseSettings, serviceSettings } from './roles.ts';
export { openService, type Service } from './service.ts';
export { type Environment, type ProcessSettings, readOwnConfig, readServiceConfig } from './service-config.ts';
export type { ServiceDependencies } from './service-dependencies.ts';
export { wakeWorkers } from './wake.ts';
