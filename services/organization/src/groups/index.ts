import * as contracts from '@attribution/contracts';
import { deleteEndpoint, getEndpoint, listEndpoint, type Writer } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { createGroupEndpoint } from './create-group.ts';
import { groupKind } from './group.ts';
import { lookUpGroupsEndpoint } from './look-up-groups.ts';
import { updateGroupEndpoint } from './update-group.ts';

export { groupKind } from './group.ts';
export { onAccountCreated } from './on-account-created.ts';

export const groupEndpoints = (database: OrganizationDatabase, write: Writer) => [
  listEndpoint(database, groupKind, contracts.listGroups),
  createGroupEndpoint(database, write),
  getEndpoint(database, groupKind, contracts.getGroup),
  updateGroupEndpoint(database, write),
  deleteEndpoint(database, write, groupKind, contracts.deleteGroup),
  lookUpGroupsEndpoint(database),
];
