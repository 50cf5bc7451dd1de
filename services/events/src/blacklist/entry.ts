import type { BlacklistEntry } from '@attribution/contracts';
import type { z } from 'zod';
import type { EntryRow } from './entry.store.ts';

const isoOf = (instant: Date | null) => instant?.toISOString() ?? null;

export const viewEntry = (row: EntryRow): z.output<typeof BlacklistEntry> => ({
  id: row.id,
  visitor_key: row.visitor_key,
  reason: row.reason,
  location_id: row.location_id,
  from: isoOf(row.valid_from),
  until: isoOf(row.valid_until),
  note: row.note,
  created_by: row.created_by,
  created_at: row.created_at.toISOString(),
});
