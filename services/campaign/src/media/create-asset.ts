import { createMediaAsset, Problem } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { type Implementation, implementWrite } from '@attribution/service';
import { lockLibrary, mediaLibraries } from '../libraries/index.ts';
import { findParts, insertAsset } from './asset.store.ts';
import { newAsset } from './asset.ts';
import { viewAsset, viewUpload } from './asset.view.ts';
import type { MediaDependencies } from './dependencies.ts';

export function createAssetEndpoint({ database, clock, urls }: MediaDependencies): Implementation {
  const written = implementWrite(createMediaAsset, database.sqlTransaction, async ({ body, caller, transaction }) => {
    const now = clock.now();
    const made = { id: newId('media_asset'), account_id: caller.accountId, created_by: caller.id };
    const row = newAsset(made, body, now);
    return transaction(async (tx) => {
      const library = await lockLibrary(tx, mediaLibraries, caller, body.media_library_id, 'use');
      if (!library)
        throw new Problem('unprocessable', `body.media_library_id: there is no library ${body.media_library_id}.`);
      await insertAsset(tx, row);
      return { ...viewAsset(urls, row, now), ...viewUpload(urls, row, new Set(), now) };
    });
  });
  return {
    ...written,
    /** A repeated request has the first answer, but for its URLs: those may have expired. */
    async renew(answer) {
      const first = answer as { readonly id: string; readonly size_bytes: number };
      const received = new Set((await findParts(database.sql, first.id)).map((part) => part.part_number));
      return { ...first, ...viewUpload(urls, first, received, clock.now()) };
    },
  };
}
