import { type Principal, visibleGroupIds } from '@attribution/auth';
import { anyOf, type Sql } from '@attribution/database';
import { type Insertable, type Selectable, sql } from 'kysely';
import type { Ad, MediaAsset } from '../generated/kysely/types.ts';
import { adLibraries, containing, librariesOf } from '../libraries/index.ts';
import { db } from '../store.ts';
import type { AdFields } from './ad.ts';

/** An ad with what it shows of its asset, and the counts that are derived. */
export type AdRow = Selectable<Ad> & {
  readonly kind: Selectable<MediaAsset>['kind'];
  readonly probe: Selectable<MediaAsset>['probe'];
  readonly poster_key: string | null;
  readonly profile_id: string | null;
  readonly campaign_count: number;
};

/** The ads that the caller sees: those in libraries that it sees. */
function adsOf(tx: Sql, caller: Principal) {
  const ads = db(tx)
    .selectFrom('ads')
    .innerJoin('media_assets as asset', 'asset.id', 'ads.media_asset_id')
    .where('ads.account_id', '=', caller.accountId);
  if (visibleGroupIds(caller) === null) return ads;
  return ads.where('ads.ad_library_id', 'in', librariesOf(tx, adLibraries, caller).select('id'));
}

const wholeAdsOf = (tx: Sql, caller: Principal) =>
  adsOf(tx, caller)
    .selectAll('ads')
    .select(['asset.kind', 'asset.probe', 'asset.poster_key'])
    .select([
      sql<string | null>`(SELECT profile.id FROM ad_profiles AS profile WHERE profile.ad_id = ads.id)`.as('profile_id'),
      sql<number>`(SELECT count(DISTINCT campaign_id)::int FROM campaign_ads WHERE campaign_ads.ad_id = ads.id)`.as(
        'campaign_count',
      ),
    ]);

interface AdFilters {
  readonly ad_library_ids?: readonly string[] | undefined;
  readonly media_asset_ids?: readonly string[] | undefined;
  readonly query?: string | undefined;
}

/** Newest first. */
export function findAds(
  tx: Sql,
  caller: Principal,
  page: AdFilters & { readonly limit: number; readonly before: string | undefined },
): Promise<AdRow[]> {
  let ads = wholeAdsOf(tx, caller);
  if (page.before !== undefined) ads = ads.where('ads.id', '<', page.before);
  if (page.ad_library_ids) ads = ads.where('ads.ad_library_id', '=', anyOf(page.ad_library_ids));
  if (page.media_asset_ids) ads = ads.where('ads.media_asset_id', '=', anyOf(page.media_asset_ids));
  if (page.query !== undefined) ads = ads.where('ads.name', 'ilike', containing(page.query));
  return ads.orderBy('ads.id', 'desc').limit(page.limit).execute();
}

export const findAd = (tx: Sql, caller: Principal, id: string): Promise<AdRow | undefined> =>
  wholeAdsOf(tx, caller).where('ads.id', '=', id).executeTakeFirst();

/** `change`: nobody else changes it, or puts it into a campaign, meanwhile. `use`: nobody deletes it meanwhile. */
export function lockAd(tx: Sql, caller: Principal, id: string, mode: 'change' | 'use'): Promise<AdRow | undefined> {
  const ads = wholeAdsOf(tx, caller).where('ads.id', '=', id);
  return (mode === 'use' ? ads.forKeyShare('ads') : ads.forUpdate('ads')).executeTakeFirst();
}

const columnsOf = ({ click_through, ...fields }: AdFields) => ({
  ...fields,
  click_through: click_through && (JSON.stringify(click_through) as never),
});

export async function insertAd(tx: Sql, fields: AdFields, row: Omit<Insertable<Ad>, keyof AdFields>): Promise<void> {
  await db(tx)
    .insertInto('ads')
    .values({ ...row, ...columnsOf(fields) })
    .execute();
}

export async function replaceAd(tx: Sql, row: AdRow, fields: AdFields, now: Date): Promise<AdRow> {
  const set = { ...columnsOf(fields), updated_at: now };
  await db(tx).updateTable('ads').set(set).where('id', '=', row.id).execute();
  return { ...row, ...fields, updated_at: now };
}

/** Whether a campaign that is not archived, or what plays now, needs the ad. */
export async function isNeeded(tx: Sql, id: string): Promise<boolean> {
  const { rows } = await sql<{ needed: boolean }>`
    SELECT EXISTS (
      SELECT FROM campaign_ads JOIN campaigns ON campaigns.id = campaign_ads.campaign_id
      WHERE campaign_ads.ad_id = ${id} AND campaigns.status <> 'archived')
    OR EXISTS (SELECT FROM live_ads WHERE live_ads.ad_id = ${id}) AS needed`.execute(db(tx));
  return rows[0]?.needed ?? false;
}

export async function deleteAd(tx: Sql, id: string): Promise<void> {
  await db(tx).deleteFrom('ads').where('id', '=', id).execute();
}
