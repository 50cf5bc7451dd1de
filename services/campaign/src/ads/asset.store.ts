import type { Principal } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import type { Selectable } from 'kysely';
import type { MediaAsset } from '../generated/kysely/types.ts';
import { librariesOf, mediaLibraries } from '../libraries/index.ts';
import { db } from '../store.ts';

type Asset = Pick<Selectable<MediaAsset>, 'id' | 'filename' | 'kind' | 'poster_key'> & {
  readonly probe: NonNullable<MediaAsset['probe']>;
};

/**
 * Locks an asset that is to be used, so that it is not deleted meanwhile. Throws `unprocessable` when the caller does not
 * see it, and `conflict` when it is not ready.
 */
export async function useAsset(tx: Sql, caller: Principal, id: string): Promise<Asset> {
  const seen = librariesOf(tx, mediaLibraries, caller).select('id');
  const asset = await db(tx)
    .selectFrom('media_assets')
    .where('id', '=', id)
    .where('media_library_id', 'in', seen)
    .select(['id', 'filename', 'kind', 'status', 'probe', 'poster_key'])
    .forKeyShare()
    .executeTakeFirst();
  if (!asset) throw new Problem('unprocessable', `body.media_asset_id: there is no asset ${id} in this account.`);
  const { status, probe } = asset;
  if (status !== 'ready' || probe === null)
    throw new Problem('conflict', `body.media_asset_id: the asset ${id} is ${status}, not ready.`);
  return { ...asset, probe };
}
