export { inTrace, traceHeaders } from '@attribution/tracing';
export {
  type Committed,
  implement,
  implementKeyed,
  type KeyedHandler,
  type KeyedTransaction,
} from './implement.ts';
export { runService } from './process.ts';
export { type Counts, commonPurges, type Forgettable, type Purge, purgeJobs, purgeOf } from './purges.ts';
export { databaseSettings, serviceSettings } from './roles.ts';
export { openService, type Service, type ServiceParts } from './service.ts';
export { wakeWorkers } from './wake.ts';
