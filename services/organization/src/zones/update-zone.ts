import { updateZone } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import type { Writer } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { zoneKind } from './zone.ts';

export const updateZoneEndpoint = (database: OrganizationDatabase, write: Writer) =>
  implementWrite(updateZone, database.sqlTransaction, async ({ params, body, caller, request, transaction }) =>
    write({ caller, request, transaction }, async (change) =>
      change.update(zoneKind, await change.lock(zoneKind, params.id), body),
    ),
  );
