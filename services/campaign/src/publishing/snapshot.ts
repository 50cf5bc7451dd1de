import { createHash } from 'node:crypto';
import type { Snapshot as SnapshotSchema } from '@attribution/contracts';
import canonicalize from 'canonicalize';
import type { z } from 'zod';
import type { CampaignWithAds, PlannedAd } from '../campaigns/index.ts';

export type Snapshot = z.output<typeof SnapshotSchema>;

/** SHA-256 over RFC 8785 JSON, in lower-case hex. */
export function contentHash(snapshot: Snapshot): string {
  const canonical = canonicalize(snapshot);
  if (canonical === undefined) throw new Error('A snapshot is always JSON');
  return createHash('sha256').update(canonical, 'utf8').digest('hex');
}

/** Freezes the content of a campaign whose ads have assets that are ready. */
export function snapshotOf(campaign: CampaignWithAds): Snapshot {
  const { name, description, brief, start_date, end_date, priority, media_asset_id, target, ads } = campaign;
  const frozen = ads.map(freeze);
  return { name, description, brief, start_date, end_date, priority, media_asset_id, target, ads: frozen };
}

function freeze(ad: PlannedAd): Snapshot['ads'][number] {
  const { id, ad_id, screen_tag, position, duration_ms, fit, muted, click_through, media_asset_id } = ad;
  const { sha256, size_bytes, probe } = ad;
  if (sha256 === null || probe === null)
    throw new Error(`The asset of ${id} was ready when its ad was made, and stays so`);
  const asset = { media_asset_id, sha256, size_bytes: Number(size_bytes), mime: probe.mime };
  return { campaign_ad_id: id, ad_id, screen_tag, position, duration_ms, fit, muted, click_through, ...asset };
}
