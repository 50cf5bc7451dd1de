import type { Clock } from '@attribution/runtime';
import type { OrganizationDatabase } from '../store.ts';
import { getEstateImportReportEndpoint } from './get-report.ts';
import { importEstateEndpoint } from './import-estate.ts';
import { getEstateImportEndpoint, listEstateImportsEndpoint } from './read-imports.ts';

export { discardImport, importPurge } from './delete-imports.ts';
export { findOfAccount } from './import.store.ts';
export { importJob, runImports } from './run-imports.ts';

export const importEndpoints = (deps: {
  readonly database: OrganizationDatabase;
  readonly clock: Clock;
  readonly wake: () => void;
}) => [
  importEstateEndpoint(deps),
  listEstateImportsEndpoint(deps.database),
  getEstateImportEndpoint(deps.database),
  getEstateImportReportEndpoint(deps.database),
];
