import { orientationOf, Problem, updateScreen } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import { merge, type Writer } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { inZone } from '../zones/index.ts';
import { screenKind } from './screen.ts';

export const updateScreenEndpoint = (database: OrganizationDatabase, write: Writer) =>
  implementWrite(updateScreen, database.sqlTransaction, async ({ params, body, caller, request, transaction }) =>
    write({ caller, request, transaction }, async (change) => {
      const before = await change.lock(screenKind, params.id);
      const { orientation: given, ...fields } = body;
      const { width_px, height_px, zone_id } = merge(before, fields);
      const orientation = orientationOf(width_px, height_px);
      if (given !== undefined && given !== orientation) {
        const size = `${width_px} x ${height_px}`;
        throw new Problem('validation-error', `body.orientation: must be ${orientation} for ${size}.`);
      }
      const place = zone_id === before.zone_id ? {} : await inZone(change, zone_id);
      return change.update(screenKind, before, { ...fields, ...place, orientation });
    }),
  );
