import type { PublishedVersion } from '@attribution/contracts';
import { anyOf, type Sql, type SqlTransaction } from '@attribution/database';
import type { z } from 'zod';
import { db } from '../store.ts';

/** Adds versions and their ads. They never change. */
export async function insertVersions(
  tx: SqlTransaction,
  versions: readonly z.output<typeof PublishedVersion>[],
): Promise<void> {
  if (versions.length === 0) return;
  await tx.$executeRawUnsafe(
    `WITH published AS (
       SELECT * FROM json_to_recordset($1::json) AS row(account_id text, campaign_id text, version int,
         holdout_percent int, published_at timestamptz, campaign_ad_ids json)),
     ads AS (
       INSERT INTO known_campaign_ads (account_id, campaign_id, campaign_ad_id)
       SELECT DISTINCT account_id, campaign_id, campaign_ad_id
       FROM published, json_array_elements_text(campaign_ad_ids) AS campaign_ad_id
       ORDER BY 1, 3 ON CONFLICT DO NOTHING)
     INSERT INTO known_versions (account_id, campaign_id, version, holdout_percent, published_at)
     SELECT account_id, campaign_id, version, holdout_percent, published_at FROM published
     ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING`,
    JSON.stringify(versions),
  );
}

/** The campaign of an ad, and the versions of it that were published. */
export interface KnownAd {
  readonly campaign_id: string;
  readonly versions: ReadonlySet<number>;
}

/** The ads that are known, by their ids. */
export async function findAds(tx: Sql, accountId: string, ids: readonly string[]): Promise<Map<string, KnownAd>> {
  if (ids.length === 0) return new Map();
  const rows = await db(tx)
    .selectFrom('known_campaign_ads as ad')
    .innerJoin('known_versions as version', (on) =>
      on.onRef('version.account_id', '=', 'ad.account_id').onRef('version.campaign_id', '=', 'ad.campaign_id'),
    )
    .where('ad.account_id', '=', accountId)
    .where('ad.campaign_ad_id', '=', anyOf(ids))
    .select(['ad.campaign_ad_id', 'ad.campaign_id', 'version.version'])
    .execute();
  const ads = new Map<string, { campaign_id: string; versions: Set<number> }>();
  for (const { campaign_ad_id, campaign_id, version } of rows) {
    const ad = ads.get(campaign_ad_id) ?? { campaign_id, versions: new Set() };
    ads.set(campaign_ad_id, ad);
    ad.versions.add(version);
  }
  return ads;
}
