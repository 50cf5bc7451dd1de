import { updateLocation } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import { merge, type Writer } from '../estate/index.ts';
import { groupKind } from '../groups/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { locationKind, requirePoint, taxonomyOf } from './location.ts';

/** A move to another group moves everything in the location too, and may hide all of it from callers of the old group. */
export const updateLocationEndpoint = (database: OrganizationDatabase, write: Writer) =>
  implementWrite(updateLocation, database.sqlTransaction, async ({ params, body, caller, request, transaction }) =>
    write({ caller, request, transaction }, async (change) => {
      const before = await change.lock(locationKind, params.id);
      requirePoint(merge(before, body));
      if (body.group_id !== undefined && body.group_id !== before.group_id)
        await change.lockParent(groupKind, body.group_id, 'body.group_id');
      const venue = body.venue_type === undefined ? {} : { venue_taxonomy: taxonomyOf(body.venue_type) };
      return change.update(locationKind, before, { ...body, ...venue });
    }),
  );
