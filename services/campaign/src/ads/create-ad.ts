import { createAd } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { implementWrite } from '@attribution/service';
import { insertAd } from './ad.store.ts';
import { defaultDuration } from './ad.ts';
import { viewAd } from './ad.view.ts';
import { useAsset } from './asset.store.ts';
import type { Dependencies } from './dependencies.ts';
import { requireLibrary } from './library-choice.ts';

export const createAdEndpoint = ({ database, clock, posterUrl }: Dependencies) =>
  implementWrite(createAd, database.sqlTransaction, async ({ body, caller, transaction }) =>
    transaction(async (tx) => {
      const { media_asset_id, ...given } = body;
      await requireLibrary(tx, caller, body.ad_library_id);
      const asset = await useAsset(tx, caller, media_asset_id);
      const { name = asset.filename, duration_ms = defaultDuration(asset.probe) } = given;
      const fields = { ...given, name, duration_ms };
      const now = clock.now();
      const made = { created_by: caller.id, created_at: now, updated_at: now };
      const row = { id: newId('ad'), account_id: caller.accountId, media_asset_id, ...made };
      await insertAd(tx, fields, row);
      const { kind, probe, poster_key } = asset;
      const derived = { kind, probe, poster_key, profile_id: null, campaign_count: 0 };
      return viewAd({ ...row, ...fields, ...derived }, posterUrl);
    }),
  );
