import { createScreen, orientationOf } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import type { Writer } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { inZone } from '../zones/index.ts';
import { screenKind } from './screen.ts';

export const createScreenEndpoint = (database: OrganizationDatabase, write: Writer) =>
  implementWrite(createScreen, database.sqlTransaction, async ({ body, caller, request, transaction }) =>
    write({ caller, request, transaction }, async (change) => {
      const place = await inZone(change, body.zone_id);
      return change.create(screenKind, {
        ...body,
        ...place,
        orientation: orientationOf(body.width_px, body.height_px),
      });
    }),
  );
