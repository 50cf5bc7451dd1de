import { createCamera } from '@attribution/contracts';
import { implementKeyed } from '@attribution/service';
import type { Writer } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { inZone } from '../zones/index.ts';
import { cameraKind } from './camera.ts';

export const createCameraEndpoint = (database: OrganizationDatabase, write: Writer) =>
  implementKeyed(createCamera, database.sqlTransaction, async ({ body, caller, request, transaction }) =>
    write({ caller, request, transaction }, async (change) =>
      change.create(cameraKind, { ...body, ...(await inZone(change, body.zone_id)) }),
    ),
  );
