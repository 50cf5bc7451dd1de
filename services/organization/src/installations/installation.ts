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
  /** In order of their names; in a table of their own. */
  readonly outputs: View['outputs'];
}

export const installationKind: Kind<InstallationRow, View> = {
  name: 'installation',
  table: 'installations',
  columns: ['group_id', 'location_id', 'device_id', 'name', 'live', 'installed_at', 'removed_at'],
  computed: `(SELECT coalesce(jsonb_agg(jsonb_build_object('output', o.output, 'screen_id', o.screen_id)
      ORDER BY o.output COLLATE "C"), '[]')
    FROM installation_outputs o WHERE o.installation_id = t.id) AS outputs`,
  parts: { clear: clearOutputs, write: writeOutputs },
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

type Standing = Pick<InstallationRow, 'live' | 'installed_at' | 'removed_at'>;

/** How an installation stands at its new status: what comes back into use is installed anew. */
export function standingOf(status: View['status'], before: Standing | undefined, now: Date): Standing {
  const live = status === 'live';
  if (before?.live === live) return { live, installed_at: before.installed_at, removed_at: before.removed_at };
  return { live, installed_at: live || !before ? now : before.installed_at, removed_at: live ? null : now };
}

/** As they are kept: by name. */
export const inOrder = (outputs: View['outputs']): View['outputs'] =>
  outputs.toSorted((a, b) => Buffer.compare(Buffer.from(a.output), Buffer.from(b.output)));
