import { createCamera } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { Writer } from '../estate/index.ts';
import { inZone } from '../zones/index.ts';
import { cameraKind } from './camera.ts';

export const createCameraEndpoint = (write: Writer) =>
  implement(createCamera, async ({ body, caller, request }) =>
    write({ caller, request }, async (change) =>
      change.create(cameraKind, { ...body, ...(await inZone(change, body.zone_id)) }),
    ),
  );
