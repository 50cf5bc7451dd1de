import { type Principal, visibleGroupIds } from '@attribution/auth';
import { anyOf, maxPageBytes, type Sql } from '@attribution/database';
import { type Selectable, sql } from 'kysely';
import type { Campaign } from '../generated/kysely/types.ts';
import { db } from '../store.ts';
import { type CampaignTarget, estimatedLocations } from '../target/index.ts';
import {
  type CampaignBrief,
  type CampaignFields,
  type CampaignRow,
  type CampaignStatus,
  type ListedCampaign,
  summarizeAds,
} from './campaign.ts';
import { findPlannedAds, type PlannedAd } from './planned-ad.store.ts';

/** What decides on the campaigns that a caller sees. */
type Viewer = Pick<Principal, 'id' | 'accountId' | 'groups'>;

/**
 * The campaigns that the caller can see: all of its account, or, for a narrowed caller, those of its groups and those
 * that it created (decision 30). Every query for a caller starts from this one.
 */
function campaignsOf(tx: Sql, caller: Viewer) {
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
  'live_version',
  'created_at',
  'updated_at',
  'screen_count',
  'media_asset_id',
  'scored_signature',
] as const satisfies readonly (keyof Campaign)[];

/** What is derived when a campaign is read. */
const derived = [
  estimatedLocations.as('estimated_locations'),
  sql<string | null>`(SELECT poster_key FROM media_assets WHERE media_assets.id = campaigns.media_asset_id)`.as(
    'poster_key',
  ),
] as const;
const derivedNames = ['estimated_locations', 'poster_key'] as const;

/** The bytes of the columns that have no small limit, in all rows before the last one. */
const bytesBefore = sql<number>`sum(octet_length(metadata::text) + octet_length(coalesce(description, '')))
  OVER (ORDER BY id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING)`;

/**
 * Newest first, with the counts of their ads in the same statement. Ends one row after that which exceeds the bytes of a page:
 * no list loads more than about that much, and the last row shows that there are more.
 */
export async function findCampaigns(
  tx: Sql,
  caller: Principal,
  page: { limit: number; before: string | undefined; statuses: readonly CampaignStatus[] | undefined },
): Promise<ListedCampaign[]> {
  let campaigns = campaignsOf(tx, caller);
  if (page.before !== undefined) campaigns = campaigns.where('id', '<', page.before);
  if (page.statuses !== undefined) campaigns = campaigns.where('status', '=', anyOf(page.statuses));
  const found = campaigns
    .select(listed)
    .select(derived)
    .select((campaign) => sql<string | null>`${campaign.ref('brief')} ->> 'product'`.as('product'))
    .orderBy('id', 'desc')
    .limit(page.limit);
  const measured = db(tx).selectFrom(found.as('found')).selectAll().select(bytesBefore.as('bytes_before'));
  return db(tx)
    .selectFrom(measured.as('campaigns'))
    .where((campaign) =>
      campaign.or([campaign('bytes_before', 'is', null), campaign('bytes_before', '<=', maxPageBytes)]),
    )
    .innerJoinLateral(
      (campaign) =>
        campaign
          .selectFrom('campaign_ads')
          .whereRef('campaign_ads.campaign_id', '=', 'campaigns.id')
          .select(({ fn, ref }) => [
            sql<number>`count(*)::int`.as('total_ad_count'),
            sql<number>`count(${ref('score')})::int`.as('scored_ad_count'),
            fn.agg<number | null>('avg', ['score']).orderBy('position').orderBy('campaign_ads.id').as('campaign_score'),
          ])
          .as('ads'),
      (join) => join.onTrue(),
    )
    .select([...listed, ...derivedNames, 'product'])
    .select(['total_ad_count', 'scored_ad_count', 'campaign_score'])
    .orderBy('id', 'desc')
    .execute();
}

/** The types of the JSON columns. */
interface Json {
  brief: CampaignBrief;
  target: CampaignTarget;
}

type Derived = Pick<CampaignRow, (typeof derivedNames)[number]>;

export type CampaignWithAds = CampaignRow & { readonly ads: readonly PlannedAd[] };

export async function findCampaign(tx: Sql, caller: Principal, id: string): Promise<CampaignWithAds | undefined> {
  const campaign = campaignsOf(tx, caller).where('id', '=', id).selectAll().select(derived).$narrowType<Json>();
  return withAds(tx, await campaign.executeTakeFirst());
}

export const seesCampaign = async (tx: Sql, caller: Principal, id: string): Promise<boolean> =>
  (await campaignsOf(tx, caller).where('id', '=', id).select('id').executeTakeFirst()) !== undefined;

/** Those of the campaigns that the caller sees. */
export async function findSeen(tx: Sql, caller: Viewer, ids: readonly string[]): Promise<string[]> {
  const rows = await campaignsOf(tx, caller).where('id', '=', anyOf(ids)).select('id').execute();
  return rows.map(({ id }) => id);
}

/** Locks the campaign, so that a change is decided on its current state. */
export async function lockCampaign(tx: Sql, caller: Principal, id: string): Promise<CampaignWithAds | undefined> {
  const campaign = campaignsOf(tx, caller).where('id', '=', id).selectAll().select(derived).$narrowType<Json>();
  return withAds(tx, await campaign.forUpdate().executeTakeFirst());
}

async function withAds(
  tx: Sql,
  row: (Selectable<Campaign> & Json & Derived) | undefined,
): Promise<CampaignWithAds | undefined> {
  if (!row) return undefined;
  return countedWith(row, await findPlannedAds(tx, row.id));
}

const countedWith = (row: Selectable<Campaign> & Json & Derived, ads: CampaignWithAds['ads']): CampaignWithAds => ({
  ...row,
  ads,
  ...summarizeAds(ads),
});

export async function insertCampaign(tx: Sql, row: CampaignRow): Promise<void> {
  const { total_ad_count, scored_ad_count, campaign_score, estimated_locations, poster_key, ...columns } = row;
  const json = { brief: JSON.stringify(row.brief), target: JSON.stringify(row.target) as never };
  await db(tx)
    .insertInto('campaigns')
    .values({ ...columns, ...json })
    .execute();
}

/** Counts the campaigns of an account, up to `most`. */
export async function countCampaigns(tx: Sql, accountId: string, most: number): Promise<number> {
  const some = db(tx).selectFrom('campaigns').where('account_id', '=', accountId).select('id').limit(most);
  const counted = db(tx).selectFrom(some.as('some')).select(sql<number>`count(*)::int`.as('count'));
  return (await counted.executeTakeFirstOrThrow()).count;
}

/** Until the commit. */
export async function lockRoom(tx: Sql, accountId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${accountId}, 6))`.execute(db(tx));
}

/** Columns that a step may set, besides the fields that a request gives. */
type Progress = Partial<
  Pick<CampaignRow, 'status' | 'current_version' | 'live_version' | 'placed_at' | 'screen_count' | 'target'>
>;

/** Changes a locked campaign, and returns it with its ads as they were. */
export async function changeCampaign(
  tx: Sql,
  { id, ads }: CampaignWithAds,
  changes: Partial<CampaignFields> & Progress,
  now: Date,
): Promise<CampaignWithAds> {
  const json = {
    ...(changes.brief && { brief: JSON.stringify(changes.brief) }),
    ...(changes.target && { target: JSON.stringify(changes.target) }),
  };
  const row = await db(tx)
    .updateTable('campaigns')
    .set({ ...changes, ...json, updated_at: now } as never)
    .where('id', '=', id)
    .returningAll()
    .returning(derived)
    .$narrowType<Json>()
    .executeTakeFirstOrThrow();
  return countedWith(row, ads);
}
