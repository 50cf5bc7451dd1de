import { newId } from '@attribution/ids';
import type { BenchDatabase } from '../database.ts';

/** The tag of all screens. */
const screenTag = 'window';

const stillImage = {
  ...{ mime: 'image/png', width: 1920, height: 1080, rotation: 0, codec: 'png', audio: false },
  ...{ bit_depth: 8, chroma: null, colour: 'srgb', hdr: false },
};
const nothing = { group_ids: [], location_ids: [], tags: [] };
const allScreens = { include: { ...nothing, tags: [screenTag] }, exclude: nothing, holdout_percent: 0 };

/** An account with an estate and an ad. */
export interface Studio {
  readonly account: string;
  readonly ad: string;
  readonly asset: string;
  /** In the order of the ids of their screens. */
  readonly devices: readonly string[];
}

/**
 * Creates an account with so many screens, ten in each location, of which each has a device, and an ad of a picture. The
 * locations are in one time zone.
 */
export async function seedStudio(database: BenchDatabase, screens: number): Promise<Studio> {
  const devices = Array.from({ length: screens }, () => newId('device'));
  const studio = { account: newId('account'), ad: newId('ad'), asset: newId('media_asset'), devices };
  const { account } = studio;
  await database.sql(
    `INSERT INTO known_locations (id, account_id, aggregate_version, group_id, name, timezone, status)
     SELECT 'loc_' || uuidv7(), $1, 1, $2, 'Shop', 'Europe/Zurich', 'active' FROM generate_series(1, ceil($3::int / 10.0)::int)`,
    [account, newId('group'), screens],
  );
  await database.sql(
    `WITH location AS (SELECT id, row_number() OVER (ORDER BY id) - 1 AS at FROM known_locations WHERE account_id = $1)
     INSERT INTO known_screens (id, account_id, aggregate_version, location_id, zone_id, name, tags, width_px, height_px, accepted_formats, audio)
     SELECT 'scr_' || uuidv7(), $1, 1, location.id, 'zon_' || uuidv7(), 'Window', ARRAY['eye-level', $2], 1920, 1080,
       ARRAY['image/jpeg', 'image/png', 'video/mp4'], false
     FROM generate_series(0, $3::int - 1) AS n JOIN location ON location.at = n / 10`,
    [account, screenTag, screens],
  );
  await database.sql(
    `WITH screen AS (SELECT *, row_number() OVER (ORDER BY id) AS at FROM known_screens WHERE account_id = $1)
     INSERT INTO known_installations (id, account_id, aggregate_version, location_id, device_id, live, installed_at, outputs, screen_ids)
     SELECT 'ins_' || uuidv7(), $1, 1, location_id, ($2::text[])[at], true, now(),
       jsonb_build_array(jsonb_build_object('output', 'HDMI-1', 'screen_id', id)), ARRAY[id]
     FROM screen`,
    [account, devices],
  );
  await database.sql(
    'INSERT INTO known_devices (id, account_id, owner_id, named_at) SELECT id, $1, $1, now() FROM unnest($2::text[]) AS id',
    [account, devices],
  );
  await seedAd(database, studio);
  await database.sql(
    `INSERT INTO projection_snapshots (name, completed_at) VALUES ('estate', now())
     ON CONFLICT (name) DO UPDATE SET completed_at = now()`,
  );
  return studio;
}

async function seedAd(database: BenchDatabase, { account, ad, asset }: Studio): Promise<void> {
  const [media, ads] = [newId('media_library'), newId('ad_library')];
  for (const [table, id] of Object.entries({ media_libraries: media, ad_libraries: ads }))
    await database.sql(
      `INSERT INTO ${table} (id, account_id, name, created_by, created_at, updated_at) VALUES ($1, $2, 'Spring', 'usr_seed', now(), now())`,
      [id, account],
    );
  await database.sql(
    `INSERT INTO media_assets (id, account_id, media_library_id, filename, kind, status, size_bytes, mime_type, sha256, probe,
       content_key, created_by, created_at, updated_at)
     VALUES ($1, $2, $3, 'spring.png', 'image', 'ready', 48213, 'image/png', repeat('ab', 32), $4, $1, 'usr_seed', now(), now())`,
    [asset, account, media, JSON.stringify(stillImage)],
  );
  await database.sql(
    `INSERT INTO ads (id, account_id, ad_library_id, media_asset_id, name, duration_ms, created_by, created_at, updated_at)
     VALUES ($1, $2, $3, $4, 'Spring', 10000, 'usr_seed', now(), now())`,
    [ad, account, ads, asset],
  );
}

/** What publishing fills. */
export const published = 'placements, campaigns, outbox, changed_campaigns, changed_devices, idempotency_keys';

/** Creates drafts, each with an ad that all screens of the account match. */
export async function newDrafts(database: BenchDatabase, { account, ad }: Studio, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('campaign'));
  await database.sql(
    `INSERT INTO campaigns (id, account_id, created_by, name, brief, metadata, target, created_at, updated_at)
     SELECT id, $2, 'usr_seed', 'Spring sale', '{}', '{}', $3, now(), now() FROM unnest($1::text[]) AS id`,
    [ids, account, JSON.stringify(allScreens)],
  );
  await database.sql(
    `INSERT INTO campaign_ads (id, campaign_id, ad_id, screen_tag, position, created_at)
     SELECT 'cad_' || uuidv7(), id, $2, $3, 0, now() FROM unnest($1::text[]) AS id`,
    [ids, ad, screenTag],
  );
  return ids;
}

/** A campaign as publishing leaves it, on those of the account's screens whose place in the order of ids is in a range. */
export interface Playing {
  readonly from: number;
  readonly to: number;
  readonly holdoutPercent?: number;
}

export async function seedPlaying(
  database: BenchDatabase,
  { account, ad, asset }: Studio,
  campaigns: readonly Playing[],
): Promise<void> {
  const rows = campaigns.map(({ from, to, holdoutPercent = 0 }) => ({
    ...{ id: newId('campaign'), campaign_ad: newId('campaign_ad'), first: from, last: to },
    snapshot: { start_date: null, end_date: null, priority: 0, target: { holdout_percent: holdoutPercent } },
  }));
  const made = `made AS (SELECT * FROM jsonb_to_recordset($1) AS one(id text, campaign_ad text, first int, last int, snapshot jsonb))`;
  const all = JSON.stringify(rows);
  await database.sql(
    `WITH ${made} INSERT INTO campaigns (id, account_id, created_by, name, brief, metadata, target, status, current_version,
       live_version, created_at, updated_at)
     SELECT id, $2, 'usr_seed', 'Spring sale', '{}', '{}', $3, 'published', 1, 1, now(), now() FROM made`,
    [all, account, JSON.stringify(allScreens)],
  );
  await database.sql(
    `WITH ${made} INSERT INTO campaign_versions (campaign_id, version, account_id, status, published_at, published_by, content_hash,
       ad_count, screen_count, snapshot, validation)
     SELECT id, 1, $2, 'live', now(), 'usr_seed', '', 1, last - first, snapshot, '{}' FROM made`,
    [all, account],
  );
  await database.sql(
    `WITH ${made} INSERT INTO live_ads (campaign_ad_id, campaign_id, account_id, version, ad_id, media_asset_id, sha256, size_bytes,
       mime, duration_ms, fit, muted, screen_tag, position, created_at)
     SELECT campaign_ad, id, $2, 1, $3, $4, repeat('ab', 32), 48213, 'image/png', 10000, 'contain', false, $5, 0, now() FROM made`,
    [all, account, ad, asset, screenTag],
  );
  await database.sql(
    `WITH ${made}, screen AS (
       SELECT id, location_id, row_number() OVER (ORDER BY id) - 1 AS at FROM known_screens WHERE account_id = $2)
     INSERT INTO placements (account_id, campaign_id, campaign_ad_id, ad_id, screen_id, location_id, screen_tag, version, valid_from)
     SELECT $2, made.id, campaign_ad, $3, screen.id, location_id, $4, 1, now()
     FROM made JOIN screen ON at >= first AND at < last`,
    [all, account, ad, screenTag],
  );
}

/** After all that is seeded: nothing of it is news, and the planner knows the tables. */
export async function settle(database: BenchDatabase): Promise<void> {
  await database.sql('TRUNCATE changed_screens, changed_campaigns, changed_devices');
  await database.sql('VACUUM ANALYZE');
}
