import { createZone } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import type { Writer } from '../estate/index.ts';
import { locationKind } from '../locations/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { zoneKind } from './zone.ts';

export const createZoneEndpoint = (database: OrganizationDatabase, write: Writer) =>
  implementWrite(createZone, database.sqlTransaction, async ({ body, caller, request, transaction }) =>
    write({ caller, request, transaction }, async (change) => {
      const { group_id } = await change.lockParent(locationKind, body.location_id, 'body.location_id');
      return change.create(zoneKind, { ...body, group_id });
    }),
  );
