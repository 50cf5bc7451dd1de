import { createInstallation } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { Writer } from '../estate/index.ts';
import { locationKind } from '../locations/index.ts';
import { inOrder, installationKind, standingOf } from './installation.ts';
import { requireScreens } from './require-screens.ts';

export const createInstallationEndpoint = (write: Writer) =>
  implement(createInstallation, async ({ body, caller, request }) =>
    write({ caller, request }, async (change) => {
      const { status, ...fields } = body;
      const { group_id } = await change.into(locationKind, body.location_id, 'body.location_id');
      await requireScreens(change, body.location_id, body.outputs);
      return change.create(installationKind, {
        ...fields,
        group_id,
        outputs: inOrder(body.outputs),
        ...standingOf(status, undefined, change.now),
      });
    }),
  );
