import * as contracts from '@attribution/contracts';
import { deleteEndpoint, getEndpoint, listEndpoint, type Writer } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { createInstallationEndpoint } from './create-installation.ts';
import { installationKind } from './installation.ts';
import { updateInstallationEndpoint } from './update-installation.ts';

export { installationKind, sortOutputs, statusFields } from './installation.ts';

export const installationEndpoints = (database: OrganizationDatabase, write: Writer) => [
  listEndpoint(database, installationKind, contracts.listInstallations),
  createInstallationEndpoint(database, write),
  getEndpoint(database, installationKind, contracts.getInstallation),
  updateInstallationEndpoint(database, write),
  deleteEndpoint(database, write, installationKind, contracts.deleteInstallation),
];
