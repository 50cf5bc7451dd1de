import { createLocation } from '@attribution/contracts';
import { implementKeyed } from '@attribution/service';
import type { Writer } from '../estate/index.ts';
import { groupKind } from '../groups/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { locationKind, taxonomyOf } from './location.ts';

export const createLocationEndpoint = (database: OrganizationDatabase, write: Writer) =>
  implementKeyed(createLocation, database.sqlTransaction, async ({ body, caller, request, transaction }) =>
    write({ caller, request, transaction }, async (change) => {
      await change.lockParent(groupKind, body.group_id, 'body.group_id');
      return change.create(locationKind, { ...body, venue_taxonomy: taxonomyOf(body.venue_type) });
    }),
  );
