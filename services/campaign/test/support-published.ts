import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';

interface Published {
  readonly start_date: string | null;
  readonly end_date: string | null;
  readonly priority: number;
  readonly holdout_percent: number;
  readonly sha256: string;
}

/** Writes what publishing a campaign with one ad writes, on the screens: how it is published has tests of its own. */
export async function writePublished(
  service: TestService,
  account: string,
  screens: readonly { readonly id: string; readonly location_id: string }[],
  fields: Partial<Published> = {},
): Promise<{ readonly campaign: string; readonly ad: string }> {
  const { start_date = null, end_date = null, priority = 0, holdout_percent = 0, sha256 = 'ab'.repeat(32) } = fields;
  const [campaign, ad, at] = [newId('campaign'), newId('campaign_ad'), service.clock.now()];
  const snapshot = { start_date, end_date, priority, target: { holdout_percent } };
  await service.db.query(
    `WITH made AS (
       INSERT INTO campaigns (id, account_id, created_by, name, brief, metadata, target, status, current_version, live_version, created_at, updated_at)
       VALUES ($1, $2, 'usr', 'Published', '{}', '{}', '{}', 'published', 1, 1, $4, $4)
     ), ad AS (
       INSERT INTO live_ads (campaign_ad_id, campaign_id, account_id, version, ad_id, media_asset_id, sha256, size_bytes, mime,
         duration_ms, fit, muted, screen_tag, position, created_at)
       VALUES ($3, $1, $2, 1, 'ad_' || uuidv7(), 'mda_' || uuidv7(), $6, 1000, 'image/png', 10000, 'contain', false, 'entrance', 0, $4)
     ), placed AS (
       INSERT INTO placements (account_id, campaign_id, campaign_ad_id, ad_id, screen_id, location_id, screen_tag, version, valid_from)
       SELECT $2, $1, $3, 'ad', screen ->> 'id', screen ->> 'location_id', 'entrance', 1, $4 FROM jsonb_array_elements($7) AS screen
     )
     INSERT INTO campaign_versions (campaign_id, version, account_id, status, published_at, published_by, content_hash,
       ad_count, screen_count, snapshot, validation)
     VALUES ($1, 1, $2, 'live', $4, 'usr', '', 1, 1, $5, '{}')`,
    [campaign, account, ad, at, snapshot, sha256, JSON.stringify(screens)],
  );
  return { campaign, ad };
}

/** Writes what archiving a campaign writes. */
export async function writeArchived(service: TestService, campaign: string): Promise<void> {
  await service.db.query(
    `WITH closed AS (
       UPDATE placements SET valid_to = $2, closed_by = 'archive' WHERE campaign_id = $1 AND valid_to IS NULL
     ), gone AS (DELETE FROM live_ads WHERE campaign_id = $1)
     UPDATE campaign_versions SET status = 'closed', ended_at = $2 WHERE campaign_id = $1 AND status = 'live'`,
    [campaign, new Date(service.clock.now().getTime() + 1)],
  );
}
