import { type Client, createLocation } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import type { Writer } from '../estate/index.ts';
import { groupKind } from '../groups/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { locationKind, taxonomyOf } from './location.ts';
import { findZone } from './zone-of-point.ts';

/** Utilities is asked before the transaction, which no call to a service may hold up. */
export const createLocationEndpoint = (database: OrganizationDatabase, write: Writer, utilities: Client) =>
  implementWrite(createLocation, database.sqlTransaction, async ({ body, caller, request, transaction }) => {
    const timezone = body.timezone ?? (await findZone(utilities, body));
    return write({ caller, request, transaction }, async (change) => {
      await change.lockParent(groupKind, body.group_id, 'body.group_id');
      return change.create(locationKind, { ...body, timezone, venue_taxonomy: taxonomyOf(body.venue_type) });
    });
  });
