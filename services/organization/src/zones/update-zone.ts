import { updateZone } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { Writer } from '../estate/index.ts';
import { zoneKind } from './zone.ts';

export const updateZoneEndpoint = (write: Writer) =>
  implement(updateZone, async ({ params, body, caller, request }) =>
    write({ caller, request }, async (change) => change.update(zoneKind, await change.lock(zoneKind, params.id), body)),
  );
