import { type Principal, visibleGroupIds } from '@attribution/auth';
import { anyOf, type Sql } from '@attribution/database';
import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import type { Campaign, CampaignAd, DB } from '../generated/kysely/types.ts';
import { db } from '../store.ts';
import {
  type CampaignBrief,
  type CampaignFields,
  type CampaignRow,
  type CampaignStatus,
  type CampaignTarget,
  type ListedCampaign,
  summarizeAds,
} from './campaign.ts';

/**
 * The campaigns that the caller can see: all of its account, or, for a narrowed caller, those of its groups and those
 * that it created (decision 30). Every query for a caller starts from this one.
 */
function campaignsOf(tx: Sql, caller: Principal) {
  const groups = visibleGroupIds(caller);
  const inAccount = db(tx).selectFrom('campaigns').where('account_id', '=', caller.accountId);
  if (!groups) return inAccount;
  return inAccount.where((campaign) =>
    campaign.or([campaign('group_id', '=', anyOf(groups)), campaign('created_by', '=', caller.id)]),
  );
}

const listed = [
  'id',
  'account_id',
  'group_id',
  'name',
  'description',
  'start_date',
  'end_date',
  'priority',
  'metadata',
  'status',
  'current_version',
  'created_at',
  'updated_at',
  'screen_count',
  'estimated_locations',
  'media_asset_id',
  'poster_url',
  'scored_signature',
] as const satisfies readonly (keyof Campaign)[];

/** Newest first, with the counts of their ads in the same statement. */
export async function findCampaigns(
  tx: Sql,
  caller: Principal,
  page: { limit: number; before: string | undefined; statuses: readonly CampaignStatus[] | undefined },
): Promise<ListedCampaign[]> {
  let campaigns = campaignsOf(tx, caller);
  if (page.before !== undefined) campaigns = campaigns.where('id', '<', page.before);
  if (page.statuses !== undefined) campaigns = campaigns.where('status', '=', anyOf(page.statuses));
  return campaigns
    .innerJoinLateral(countAds, (join) => join.onTrue())
    .select(listed)
    .select((campaign) => sql<string | null>`${campaign.ref('brief')} ->> 'product'`.as('product'))
    .select(['total_ad_count', 'scored_ad_count', 'campaign_score'])
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute();
}

const countAds = (campaign: ExpressionBuilder<DB, 'campaigns'>) =>
  campaign
    .selectFrom('campaign_ads')
    .whereRef('campaign_ads.campaign_id', '=', 'campaigns.id')
    .select(({ fn, ref }) => [
      sql<number>`count(*)::int`.as('total_ad_count'),
      sql<number>`count(${ref('score')})::int`.as('scored_ad_count'),
      fn.agg<number | null>('avg', ['score']).orderBy('position').orderBy('campaign_ads.id').as('campaign_score'),
    ])
    .as('ads');

/** The types of the JSON columns. */
interface Json {
  brief: CampaignBrief;
  target: CampaignTarget;
}

export type CampaignWithAds = CampaignRow & { readonly ads: readonly Selectable<CampaignAd>[] };

export async function findCampaign(tx: Sql, caller: Principal, id: string): Promise<CampaignWithAds | undefined> {
  const campaign = campaignsOf(tx, caller).where('id', '=', id).selectAll().$narrowType<Json>();
  return withAds(tx, await campaign.executeTakeFirst());
}

/** Locks the campaign, so that a change is decided on its current state. */
export async function lockCampaign(tx: Sql, caller: Principal, id: string): Promise<CampaignWithAds | undefined> {
  const campaign = campaignsOf(tx, caller).where('id', '=', id).selectAll().$narrowType<Json>();
  return withAds(tx, await campaign.forUpdate().executeTakeFirst());
}

async function withAds(tx: Sql, row: (Selectable<Campaign> & Json) | undefined): Promise<CampaignWithAds | undefined> {
  if (!row) return undefined;
  const ads = db(tx).selectFrom('campaign_ads').where('campaign_id', '=', row.id).selectAll();
  return countedWith(row, await ads.orderBy('position').orderBy('id').execute());
}

const countedWith = (row: Selectable<Campaign> & Json, ads: CampaignWithAds['ads']): CampaignWithAds => ({
  ...row,
  ads,
  ...summarizeAds(ads),
});

export async function insertCampaign(tx: Sql, row: CampaignRow): Promise<void> {
  const { total_ad_count: _, scored_ad_count: __, campaign_score: ___, ...columns } = row;
  const json = { brief: JSON.stringify(row.brief), target: JSON.stringify(row.target) };
  await db(tx)
    .insertInto('campaigns')
    .values({ ...columns, ...json })
    .execute();
}

export async function replaceFields(
  tx: Sql,
  { id, ads }: CampaignWithAds,
  fields: CampaignFields,
  now: Date,
): Promise<CampaignWithAds> {
  const row = await db(tx)
    .updateTable('campaigns')
    .set({ ...fields, brief: JSON.stringify(fields.brief), updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .$narrowType<Json>()
    .executeTakeFirstOrThrow();
  return countedWith(row, ads);
}
