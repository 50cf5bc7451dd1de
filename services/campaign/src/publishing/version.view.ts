import type { CampaignVersion, CampaignVersionDetail } from '@attribution/contracts';
import type { z } from 'zod';
import type { VersionRow } from './version.store.ts';

const viewShared = (row: VersionRow) => ({
  version: row.version,
  status: row.status,
  published_at: row.published_at.toISOString(),
  published_by: row.published_by,
  ended_at: row.ended_at?.toISOString() ?? null,
  content_hash: row.content_hash,
  ad_count: row.ad_count,
  screen_count: row.screen_count,
});

export function viewVersion(row: VersionRow): z.output<typeof CampaignVersion> {
  const { status, error_count, warning_count } = row.validation;
  return { ...viewShared(row), validation: { status, error_count, warning_count } };
}

export const viewVersionDetail = (row: VersionRow): z.output<typeof CampaignVersionDetail> => ({
  ...viewShared(row),
  snapshot: row.snapshot,
  validation: row.validation,
});
