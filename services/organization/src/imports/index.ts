import type { Clock } from '@attribution/runtime';
import type { OrganizationDatabase } from '../store.ts';
import { getEstateImportReportEndpoint } from './get-report.ts';
import { importEstateEndpoint } from './import-estate.ts';
import { getEstateImportEndpoint, listEstateImportsEndpoint } from './read-imports.ts';

export { endedImports, forgetImport } from './forget-imports.ts';
export { findOfAccount } from './import.store.ts';
export { importJob, runImports } from './run-imports.ts';

export const importEndpoints = (parts: {
  readonly database: OrganizationDatabase;
  readonly clock: Clock;
  readonly wake: () => void;
}) => [
  importEstateEndpoint(parts),
  listEstateImportsEndpoint(parts.database),
  getEstateImportEndpoint(parts.database),
  getEstateImportReportEndpoint(parts.database),
];
