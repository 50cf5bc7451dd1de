import { venueTaxonomy } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { Statements } from '../database.ts';

/** Rows for each account: enough for several pages. */
const rowsOfAccount = 60;

const openingHours = {
  mon: [{ opens: '09:00', closes: '18:30' }],
  sat: [{ opens: '10:00', closes: '16:00' }],
};

/** Gives accounts a plan without limits. */
export const unlimited = `INSERT INTO account_limits (account_id, limits_version) SELECT id, 1 FROM unnest($1::text[]) AS id`;

/** Creates a group with locations for each account. Returns each account with its group and one location. */
export async function seedEstate(database: Statements, accounts: readonly string[], perAccount = rowsOfAccount) {
  const homes = accounts.map((account) => ({ account, group: newId('group'), location: newId('location') }));
  await database.sql(
    `INSERT INTO groups (id, account_id, name, created_at, updated_at)
     SELECT "group", account, 'Main', now(), now() FROM jsonb_to_recordset($1) AS home(account text, "group" text)`,
    [JSON.stringify(homes)],
  );
  const locations = homes.flatMap(({ account, group, location }) =>
    Array.from({ length: perAccount }, (_, index) => ({
      id: index === 0 ? location : newId('location'),
      account,
      group,
      name: `Bahnhofstrasse ${index}`,
    })),
  );
  await database.sql(
    `INSERT INTO locations (id, account_id, group_id, name, timezone, address, latitude, longitude, venue_type,
       venue_taxonomy, opening_hours, created_at, updated_at)
     SELECT id, account, "group", name, 'Europe/Zurich', name || ', 8001 Zurich', 47.3686, 8.5392, 'retail.malls',
       $3, $2, now(), now()
     FROM jsonb_to_recordset($1) AS location(id text, account text, "group" text, name text)`,
    [JSON.stringify(locations), JSON.stringify(openingHours), venueTaxonomy],
  );
  await database.sql(unlimited, [accounts]);
  await database.sql('VACUUM ANALYZE');
  return homes;
}

const brief = {
  version: 1,
  product: 'Trail shoe X2',
  objective: 'Bring runners into the shops',
  outcome: 'A tenth more visits',
};

const nothing = { group_ids: [], location_ids: [], tags: [] };
const emptyTarget = { include: nothing, exclude: nothing, holdout_percent: 0 };
const stillImage = {
  ...{ mime: 'image/png', width: 1920, height: 1080, rotation: 0, codec: 'png', audio: false },
  ...{ bit_depth: 8, chroma: null, colour: 'srgb', hdr: false },
};

/** Gives each account an ad of a picture. */
async function seedAds(database: Statements, accounts: readonly string[]): Promise<string[]> {
  const ads = accounts.map((account) => ({
    ...{ account, ad: newId('ad'), asset: newId('media_asset') },
    ...{ ads: newId('ad_library'), media: newId('media_library') },
  }));
  const table = 'jsonb_to_recordset($1) AS ad(account text, ad text, asset text, ads text, media text)';
  const rows = JSON.stringify(ads);
  for (const [library, name] of [
    ['media', 'media_libraries'],
    ['ads', 'ad_libraries'],
  ])
    await database.sql(
      `INSERT INTO ${name} (id, account_id, name, created_by, created_at, updated_at)
       SELECT ${library}, account, 'Spring', 'usr_seed', now(), now() FROM ${table}`,
      [rows],
    );
  await database.sql(
    `INSERT INTO media_assets (id, account_id, media_library_id, filename, kind, status, size_bytes, mime_type, sha256, probe,
       content_key, created_by, created_at, updated_at)
     SELECT asset, account, media, 'spring.png', 'image', 'ready', 48213, 'image/png', repeat('0', 64), $2, asset, 'usr_seed',
       now(), now() FROM ${table}`,
    [rows, JSON.stringify(stillImage)],
  );
  await database.sql(
    `INSERT INTO ads (id, account_id, ad_library_id, media_asset_id, name, duration_ms, created_by, created_at, updated_at)
     SELECT ad, account, ads, asset, 'Spring', 10000, 'usr_seed', now(), now() FROM ${table}`,
    [rows],
  );
  return ads.map(({ ad }) => ad);
}

/** Creates campaigns with an ad for two tags each, one of them scored. Returns one campaign of each account. */
export async function seedCampaigns(database: Statements, accounts: readonly string[]): Promise<string[]> {
  const firsts = accounts.map(() => newId('campaign'));
  const adOf = await seedAds(database, accounts);
  const campaigns = accounts.flatMap((account, place) =>
    Array.from({ length: rowsOfAccount }, (_, index) => ({
      id: (index === 0 && firsts[place]) || newId('campaign'),
      account,
      author: newId('user'),
      name: `Spring sale ${index}`,
      ad: adOf[place],
    })),
  );
  const ads = campaigns.flatMap(({ id: campaign, ad }) =>
    [71.5, null].map((score, position) => ({
      id: newId('campaign_ad'),
      campaign,
      ad,
      score,
      position,
    })),
  );
  await database.sql(
    `INSERT INTO campaigns (id, account_id, created_by, name, description, brief, start_date, end_date, priority,
       metadata, target, created_at, updated_at)
     SELECT id, account, author, name, 'Trail shoes, in all shops', $2, '2026-03-01', '2026-03-31', 10, '{"step": 2}', $3, now(), now()
     FROM jsonb_to_recordset($1) AS campaign(id text, account text, author text, name text)`,
    [JSON.stringify(campaigns), JSON.stringify(brief), JSON.stringify(emptyTarget)],
  );
  await database.sql(
    `INSERT INTO campaign_ads (id, campaign_id, ad_id, screen_tag, position, score, created_at)
     SELECT id, campaign, ad, 'tag-' || position, position, score, now()
     FROM jsonb_to_recordset($1) AS ad(id text, campaign text, ad text, position int, score float)`,
    [JSON.stringify(ads)],
  );
  await database.sql('VACUUM ANALYZE');
  return firsts;
}
