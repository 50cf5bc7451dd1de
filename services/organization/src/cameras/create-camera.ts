import { createCamera } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import type { Writer } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { inZone } from '../zones/index.ts';
import { cameraKind } from './camera.ts';

export const createCameraEndpoint = (database: OrganizationDatabase, write: Writer) =>
  implementWrite(createCamera, database.sqlTransaction, async ({ body, caller, request, transaction }) =>
    write({ caller, request, transaction }, async (change) =>
      change.create(cameraKind, { ...body, ...(await inZone(change, body.zone_id)) }),
    ),
  );
