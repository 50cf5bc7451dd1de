import { anyOf, type Sql } from '@attribution/database';
import { sql } from 'kysely';
import { db } from '../store.ts';

export interface PublishedRow {
  readonly campaign_id: string;
  readonly account_id: string;
  readonly version: number;
  readonly published_at: Date;
  readonly holdout_percent: number;
  readonly campaign_ad_ids: string[];
}

/** A page of the versions of all accounts or of one, by campaign and version; with `adIds`, of campaigns that plan or play one of these ads. */
export function findPublished(
  tx: Sql,
  page: {
    readonly after: readonly [campaignId: string, version: number] | undefined;
    readonly limit: number;
    readonly accountId: string | undefined;
    readonly adIds: readonly string[] | undefined;
  },
): Promise<PublishedRow[]> {
  const { after, limit, accountId, adIds } = page;
  let versions = db(tx).selectFrom('campaign_versions');
  if (accountId !== undefined) versions = versions.where('account_id', '=', accountId);
  if (after) versions = versions.where(sql<boolean>`(campaign_id, version) > (${after[0]}, ${after[1]}::int)`);
  if (adIds) {
    const planned = db(tx).selectFrom('campaign_ads').select('campaign_id').where('id', '=', anyOf(adIds));
    const playing = db(tx).selectFrom('live_ads').select('campaign_id').where('campaign_ad_id', '=', anyOf(adIds));
    versions = versions.where('campaign_id', 'in', planned.union(playing));
  }
  return versions
    .select(['campaign_id', 'account_id', 'version', 'published_at'])
    .select(sql<number>`(snapshot -> 'target' ->> 'holdout_percent')::int`.as('holdout_percent'))
    .select(
      sql<string[]>`ARRAY(SELECT ad ->> 'campaign_ad_id' FROM jsonb_array_elements(snapshot -> 'ads') AS ad)`.as(
        'campaign_ad_ids',
      ),
    )
    .orderBy('campaign_id')
    .orderBy('version')
    .limit(limit)
    .execute();
}
