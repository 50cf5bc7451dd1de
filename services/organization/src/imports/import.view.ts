import type { EstateImport } from '@attribution/contracts';
import type { z } from 'zod';
import type { ImportRow } from './import.store.ts';

export function viewImport(row: ImportRow): z.output<typeof EstateImport> {
  const { total, created, updated, unchanged, refused } = row;
  const done = created + updated + unchanged + refused;
  return {
    id: row.id,
    status: row.status,
    dry_run: row.dry_run,
    media: row.media,
    progress: row.status === 'succeeded' ? 100 : Math.floor((done / Math.max(total, 1)) * 1000) / 10,
    rows: { total, created, updated, unchanged, refused },
    error: row.error,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}
