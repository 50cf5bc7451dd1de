import { type Principal, visibleGroupIds } from '@attribution/auth';
import { anyOf, type Sql } from '@attribution/database';
import { type Selectable, sql, type Updateable } from 'kysely';
import type { Analysis, MediaAsset } from '../generated/kysely/types.ts';
import { containing, librariesOf, mediaLibraries } from '../libraries/index.ts';
import { db } from '../store.ts';

/** An asset as it is stored, with the id of its analysis. */
export type AssetRow = Selectable<MediaAsset> & { readonly analysis_id: string | null };

/** The assets that the caller sees: those of the libraries that it sees. */
function assetsOf(tx: Sql, caller: Principal) {
  const assets = db(tx).selectFrom('media_assets').where('media_assets.account_id', '=', caller.accountId);
  if (visibleGroupIds(caller) === null) return assets;
  return assets.where('media_library_id', 'in', librariesOf(tx, mediaLibraries, caller).select('id'));
}

const analysisId = sql<string | null>`(SELECT id FROM analyses WHERE media_asset_id = media_assets.id)`.as(
  'analysis_id',
);

interface AssetFilters {
  readonly media_library_ids?: readonly string[] | undefined;
  readonly status?: readonly AssetRow['status'][] | undefined;
  readonly kind?: readonly AssetRow['kind'][] | undefined;
  readonly sha256?: string | undefined;
  readonly query?: string | undefined;
}

/** Newest first. */
export async function findAssets(
  tx: Sql,
  caller: Principal,
  page: AssetFilters & { readonly limit: number; readonly before: string | undefined },
): Promise<AssetRow[]> {
  let assets = assetsOf(tx, caller);
  if (page.before !== undefined) assets = assets.where('id', '<', page.before);
  if (page.media_library_ids) assets = assets.where('media_library_id', '=', anyOf(page.media_library_ids));
  if (page.status) assets = assets.where(sql`status::text`, '=', anyOf(page.status));
  if (page.kind) assets = assets.where(sql`kind::text`, '=', anyOf(page.kind));
  if (page.sha256 !== undefined) assets = assets.where('sha256', '=', page.sha256);
  if (page.query !== undefined) assets = assets.where('filename', 'ilike', containing(page.query));
  return assets.selectAll().select(analysisId).orderBy('id', 'desc').limit(page.limit).execute();
}

export async function findAsset(tx: Sql, caller: Principal, id: string): Promise<AssetRow | undefined> {
  return assetsOf(tx, caller).where('id', '=', id).selectAll().select(analysisId).executeTakeFirst();
}

/** Locks the asset, so that a change is decided on its current state. */
export async function lockAsset(tx: Sql, caller: Principal, id: string): Promise<AssetRow | undefined> {
  return assetsOf(tx, caller).where('id', '=', id).selectAll().select(analysisId).forUpdate().executeTakeFirst();
}

/** Locks an asset for what no caller asks for. */
export async function lockAssetById(tx: Sql, id: string): Promise<AssetRow | undefined> {
  const asset = db(tx).selectFrom('media_assets').where('id', '=', id);
  return asset.selectAll().select(analysisId).forUpdate().executeTakeFirst();
}

export async function readAssetById(tx: Sql, id: string): Promise<AssetRow | undefined> {
  const asset = db(tx).selectFrom('media_assets').where('id', '=', id);
  return asset.selectAll().select(analysisId).executeTakeFirst();
}

export async function insertAsset(tx: Sql, { analysis_id: _, ...row }: AssetRow): Promise<void> {
  await db(tx)
    .insertInto('media_assets')
    .values({ ...row, probe: null, failure: null })
    .execute();
}

export type AssetChange = Omit<Updateable<MediaAsset>, 'id' | 'probe' | 'failure'> & {
  probe?: AssetRow['probe'];
  failure?: AssetRow['failure'];
};

export async function changeAsset(tx: Sql, id: string, change: AssetChange): Promise<void> {
  const { probe, failure, ...columns } = change;
  const json = {
    ...(probe !== undefined && { probe: JSON.stringify(probe) as never }),
    ...(failure !== undefined && { failure: JSON.stringify(failure) as never }),
  };
  await db(tx)
    .updateTable('media_assets')
    .set({ ...columns, ...json })
    .where('id', '=', id)
    .execute();
}

export async function deleteAssetRow(tx: Sql, id: string): Promise<void> {
  await db(tx).deleteFrom('media_assets').where('id', '=', id).execute();
}

/** The received parts of an upload, in order. */
export async function findParts(tx: Sql, assetId: string) {
  const parts = db(tx).selectFrom('upload_parts').where('media_asset_id', '=', assetId);
  return parts.select(['part_number', 'key']).orderBy('part_number').execute();
}

export async function putPart(tx: Sql, media_asset_id: string, part_number: number, key: string): Promise<void> {
  await db(tx)
    .insertInto('upload_parts')
    .values({ media_asset_id, part_number, key })
    .onConflict((conflict) => conflict.columns(['media_asset_id', 'part_number']).doUpdateSet({ key }))
    .execute();
}

export async function deleteParts(tx: Sql, assetId: string): Promise<void> {
  await db(tx).deleteFrom('upload_parts').where('media_asset_id', '=', assetId).execute();
}

export type AnalysisRow = Selectable<Analysis>;

export async function findAnalysis(tx: Sql, assetId: string): Promise<AnalysisRow | undefined> {
  const analysis = db(tx).selectFrom('analyses').where('media_asset_id', '=', assetId);
  return analysis.selectAll().executeTakeFirst();
}

export async function insertAnalysis(tx: Sql, row: AnalysisRow): Promise<void> {
  const json = { technical: JSON.stringify(row.technical) as never, look: JSON.stringify(row.look) as never };
  await db(tx)
    .insertInto('analyses')
    .values({ ...row, ...json, ...(row.look === null && { look: null }) })
    .execute();
}

/** Assets that have waited for their bytes since before this time. */
export async function findAbandoned(tx: Sql, before: Date, limit: number): Promise<string[]> {
  const waiting = db(tx).selectFrom('media_assets').where('status', '=', 'awaiting_upload');
  const found = await waiting.where('created_at', '<', before).select('id').limit(limit).execute();
  return found.map(({ id }) => id);
}

/** Whether another asset has the same content. */
export async function isShared(tx: Sql, contentKey: string, except: string): Promise<boolean> {
  const others = db(tx).selectFrom('media_assets').where('content_key', '=', contentKey).where('id', '<>', except);
  return (await others.select('id').limit(1).executeTakeFirst()) !== undefined;
}

export async function isCover(tx: Sql, id: string): Promise<boolean> {
  const covered = db(tx).selectFrom('campaigns').where('media_asset_id', '=', id);
  return (await covered.select('id').limit(1).executeTakeFirst()) !== undefined;
}
