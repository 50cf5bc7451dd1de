import { type Group, groupCreated, groupDeleted, groupUpdated } from '@attribution/contracts';
import type { z } from 'zod';
import type { EstateRow, Kind } from '../estate/index.ts';

export interface GroupRow extends EstateRow {
  readonly name: string;
  readonly description: string | null;
}

export const groupKind: Kind<GroupRow, z.output<typeof Group>> = {
  name: 'group',
  table: 'groups',
  columns: ['name', 'description'],
  events: { created: groupCreated, updated: groupUpdated, deleted: groupDeleted },
  view: ({ id, name, external_id, description, created_at, updated_at }) => ({
    id,
    name,
    external_id,
    description,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }),
};
