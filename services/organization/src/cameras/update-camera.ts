import { updateCamera } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import { merge, type Writer } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { inZone } from '../zones/index.ts';
import { cameraKind } from './camera.ts';

export const updateCameraEndpoint = (database: OrganizationDatabase, write: Writer) =>
  implementWrite(updateCamera, database.sqlTransaction, async ({ params, body, caller, request, transaction }) =>
    write({ caller, request, transaction }, async (change) => {
      const before = await change.lock(cameraKind, params.id);
      const { zone_id } = merge(before, { zone_id: body.zone_id });
      const place = zone_id === before.zone_id ? {} : await inZone(change, zone_id);
      return change.update(cameraKind, before, { ...body, ...place });
    }),
  );
