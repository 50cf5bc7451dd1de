import { updateGroup } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import type { Writer } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { groupKind } from './group.ts';

export const updateGroupEndpoint = (database: OrganizationDatabase, write: Writer) =>
  implementWrite(updateGroup, database.sqlTransaction, async ({ params, body, caller, request, transaction }) =>
    write({ caller, request, transaction }, async (change) =>
      change.update(groupKind, await change.lock(groupKind, params.id), body),
    ),
  );
