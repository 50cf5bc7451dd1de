import { createZone } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { Writer } from '../estate/index.ts';
import { locationKind } from '../locations/index.ts';
import { zoneKind } from './zone.ts';

export const createZoneEndpoint = (write: Writer) =>
  implement(createZone, async ({ body, caller, request }) =>
    write({ caller, request }, async (change) => {
      const { group_id } = await change.into(locationKind, body.location_id, 'body.location_id');
      return change.create(zoneKind, { ...body, group_id });
    }),
  );
