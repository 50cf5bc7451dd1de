import { createInstallation } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import type { Writer } from '../estate/index.ts';
import { locationKind } from '../locations/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { installationKind, sortOutputs, statusFields } from './installation.ts';
import { requireScreens } from './require-screens.ts';

export const createInstallationEndpoint = (database: OrganizationDatabase, write: Writer) =>
  implementWrite(createInstallation, database.sqlTransaction, async ({ body, caller, request, transaction }) =>
    write({ caller, request, transaction }, async (change) => {
      const { status, ...fields } = body;
      const { group_id } = await change.lockParent(locationKind, body.location_id, 'body.location_id');
      await requireScreens(change, body.location_id, body.outputs);
      return change.create(installationKind, {
        ...fields,
        group_id,
        outputs: sortOutputs(body.outputs),
        ...statusFields(status, undefined, change.now),
      });
    }),
  );
