import { createGroup } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import type { Writer } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { groupKind } from './group.ts';

export const createGroupEndpoint = (database: OrganizationDatabase, write: Writer) =>
  implementWrite(createGroup, database.sqlTransaction, async ({ body, caller, request, transaction }) =>
    write({ caller, request, transaction }, (change) => change.create(groupKind, body)),
  );
