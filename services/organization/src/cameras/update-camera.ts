import { updateCamera } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { merge, type Writer } from '../estate/index.ts';
import { inZone } from '../zones/index.ts';
import { cameraKind } from './camera.ts';

export const updateCameraEndpoint = (write: Writer) =>
  implement(updateCamera, async ({ params, body, caller, request }) =>
    write({ caller, request }, async (change) => {
      const before = await change.lock(cameraKind, params.id);
      const { zone_id } = merge(before, { zone_id: body.zone_id });
      const place = zone_id === before.zone_id ? {} : await inZone(change, zone_id);
      return change.update(cameraKind, before, { ...body, ...place });
    }),
  );
