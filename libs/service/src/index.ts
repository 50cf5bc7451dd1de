export { inTrace } from '@attribution/tracing';
export { type Calls, callSettings } from './calls.ts';
export {
  defineService,
  type OpenDependencies,
  type ServiceContents,
  type ServiceDefinition,
} from './define-service.ts';
export { followGroups } from './follow-groups.ts';
export {
  type Committed,
  implement,
  implementKeyed,
  type KeyedHandler,
  type KeyedTransaction,
} from './implement.ts';
export type { Operations } from './operations.ts';
export { runService } from './process.ts';
export { type Counts, commonPurges, type Forgettable, type Purge, purgeOf } from './purges.ts';
export { databaseSettings, serviceSettings } from './roles.ts';
export { openService, type Service } from './service.ts';
export { type Environment, type ProcessSettings, readOwnConfig, readServiceConfig } from './service-config.ts';
export type { ServiceDependencies } from './service-dependencies.ts';
export { wakeWorkers } from './wake.ts';
