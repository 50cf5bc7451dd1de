import {
  type Installation,
  installationCreated,
  installationDeleted,
  installationUpdated,
} from '@attribution/contracts';
import type { z } from 'zod';
import type { Kind, PlacedRow } from '../estate/index.ts';
import { clearOutputs, writeOutputs } from './outputs.store.ts';

type View = z.output<typeof Installation>;

export interface InstallationRow extends PlacedRow {
  readonly location_id: string;
  readonly device_id: string;
  readonly name: string | null;
  readonly live: boolean;
  readonly installed_at: Date;
  readonly removed_at: Date | null;
  /** In the order of their names, from a table of their own. */
  readonly outputs: View['outputs'];
}

export const installationKind: Kind<InstallationRow, View> = {
  name: 'installation',
  table: 'installations',
  columns: ['group_id', 'location_id', 'device_id', 'name', 'live', 'installed_at', 'removed_at'],
  computed: `(SELECT coalesce(jsonb_agg(jsonb_build_object('output', o.output, 'screen_id', o.screen_id)
      ORDER BY o.output COLLATE "C"), '[]')
    FROM installation_outputs o WHERE o.installation_id = t.id) AS outputs`,
  nested: { clear: clearOutputs, write: writeOutputs },
  events: { created: installationCreated, updated: installationUpdated, deleted: installationDeleted },
  view: (row) => ({
    id: row.id,
    location_id: row.location_id,
    device_id: row.device_id,
    name: row.name,
    external_id: row.external_id,
    outputs: row.outputs,
    status: row.live ? 'live' : 'removed',
    installed_at: row.installed_at.toISOString(),
    removed_at: row.removed_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }),
};

type StatusFields = Pick<InstallationRow, 'live' | 'installed_at' | 'removed_at'>;

/** The columns for a new status. An installation that becomes live again is installed anew. */
export function statusFields(status: View['status'], before: StatusFields | undefined, now: Date): StatusFields {
  const live = status === 'live';
  if (before?.live === live) return { live, installed_at: before.installed_at, removed_at: before.removed_at };
  return { live, installed_at: live || !before ? now : before.installed_at, removed_at: live ? null : now };
}

/** Sorts outputs by the bytes of their names, as the database does. */
export const sortOutputs = (outputs: View['outputs']): View['outputs'] =>
  outputs.toSorted((a, b) => Buffer.compare(Buffer.from(a.output), Buffer.from(b.output)));
