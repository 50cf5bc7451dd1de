import { updateInstallation } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import type { Writer } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { installationKind, sortOutputs, statusFields } from './installation.ts';
import { requireScreens } from './require-screens.ts';

export const updateInstallationEndpoint = (database: OrganizationDatabase, write: Writer) =>
  implementWrite(updateInstallation, database.sqlTransaction, async ({ params, body, caller, request, transaction }) =>
    write({ caller, request, transaction }, async (change) => {
      const before = await change.lock(installationKind, params.id);
      const { status, outputs, ...fields } = body;
      const becomesLive = status === 'live' && !before.live;
      if (outputs || becomesLive)
        await requireScreens(change, before.location_id, outputs ?? before.outputs, before.outputs);
      return change.update(installationKind, before, {
        ...fields,
        ...(outputs && { outputs: sortOutputs(outputs) }),
        ...(status && statusFields(status, before, change.now)),
      });
    }),
  );
