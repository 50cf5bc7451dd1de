import { createLocation } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { Writer } from '../estate/index.ts';
import { groupKind } from '../groups/index.ts';
import { locationKind, taxonomyOf } from './location.ts';

export const createLocationEndpoint = (write: Writer) =>
  implement(createLocation, async ({ body, caller, request }) =>
    write({ caller, request }, async (change) => {
      await change.into(groupKind, body.group_id, 'body.group_id');
      return change.create(locationKind, { ...body, venue_taxonomy: taxonomyOf(body.venue_type) });
    }),
  );
