import type { Job } from '@attribution/contracts';
import type { z } from 'zod';
import type { JobRow } from './job.store.ts';

export const jobKinds = ['media_processing', 'campaign_scoring'] as const;
export type JobKind = (typeof jobKinds)[number];

export const viewJob = (row: JobRow): z.output<typeof Job> => ({
  id: row.id,
  kind: row.kind,
  status: row.status,
  progress: row.progress,
  subject_id: row.subject_id,
  ...(row.kind === 'campaign_scoring' && { hold_id: row.hold_id }),
  attempts: row.attempts,
  error: row.error,
  created_by: row.created_by,
  created_at: row.created_at.toISOString(),
  started_at: row.started_at?.toISOString() ?? null,
  finished_at: row.finished_at?.toISOString() ?? null,
});
