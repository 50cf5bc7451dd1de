import * as contracts from '@attribution/contracts';
import { deleteEndpoint, getEndpoint, listEndpoint, type Writer } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { createScreenEndpoint } from './create-screen.ts';
import { screenKind } from './screen.ts';
import { updateScreenEndpoint } from './update-screen.ts';

export { screenKind } from './screen.ts';

export const screenEndpoints = (database: OrganizationDatabase, write: Writer) => [
  listEndpoint(database, screenKind, contracts.listScreens),
  createScreenEndpoint(database, write),
  getEndpoint(database, screenKind, contracts.getScreen),
  updateScreenEndpoint(database, write),
  deleteEndpoint(database, write, screenKind, contracts.deleteScreen),
];
