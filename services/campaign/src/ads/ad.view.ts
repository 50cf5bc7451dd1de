import type { Ad, AdProfile } from '@attribution/contracts';
import type { z } from 'zod';
import type { AdRow } from './ad.store.ts';
import type { ProfileRow } from './profile.store.ts';

type PosterUrl = (key: string | null) => string | null;

export function viewAd(row: AdRow, posterUrl: PosterUrl): z.output<typeof Ad> {
  const { probe } = row;
  if (!probe) throw new Error(`The asset of ${row.id} was ready when the ad was made, and stays so`);
  return {
    id: row.id,
    account_id: row.account_id,
    ad_library_id: row.ad_library_id,
    media_asset_id: row.media_asset_id,
    name: row.name,
    duration_ms: row.duration_ms,
    fit: row.fit,
    muted: row.muted,
    click_through: row.click_through,
    kind: row.kind,
    width: probe.width,
    height: probe.height,
    profile_id: row.profile_id,
    campaign_count: row.campaign_count,
    poster_url: posterUrl(row.poster_key),
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

export const viewProfile = (row: ProfileRow): z.output<typeof AdProfile> => ({
  id: row.id,
  ad_id: row.ad_id,
  audience: row.audience,
  dayparts: row.dayparts,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
