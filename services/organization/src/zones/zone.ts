import { type Zone, zoneCreated, zoneDeleted, zoneUpdated } from '@attribution/contracts';
import type { z } from 'zod';
import type { Kind, PlacedRow } from '../estate/index.ts';

type View = z.output<typeof Zone>;

export interface ZoneRow extends PlacedRow {
  readonly location_id: string;
  readonly name: string;
  readonly kind: View['kind'];
}

export const zoneKind: Kind<ZoneRow, View> = {
  name: 'zone',
  table: 'zones',
  columns: ['group_id', 'location_id', 'name', 'kind'],
  events: { created: zoneCreated, updated: zoneUpdated, deleted: zoneDeleted },
  view: ({ id, location_id, name, external_id, kind, created_at, updated_at }) => ({
    id,
    location_id,
    name,
    external_id,
    kind,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }),
};
