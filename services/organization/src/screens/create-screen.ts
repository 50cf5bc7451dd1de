import { createScreen, orientationOf } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { Writer } from '../estate/index.ts';
import { inZone } from '../zones/index.ts';
import { screenKind } from './screen.ts';

export const createScreenEndpoint = (write: Writer) =>
  implement(createScreen, async ({ body, caller, request }) =>
    write({ caller, request }, async (change) => {
      const place = await inZone(change, body.zone_id);
      return change.create(screenKind, {
        ...body,
        ...place,
        orientation: orientationOf(body.width_px, body.height_px),
      });
    }),
  );
