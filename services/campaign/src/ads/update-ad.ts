import { Problem, updateAd } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import { lockAd, replaceAd } from './ad.store.ts';
import type { AdFields } from './ad.ts';
import { viewAd } from './ad.view.ts';
import type { Dependencies } from './dependencies.ts';
import { requireLibrary } from './library-choice.ts';

export const updateAdEndpoint = ({ database, clock, posterUrl }: Dependencies) =>
  implementWrite(updateAd, database.sqlTransaction, async ({ params, body, caller, transaction }) =>
    transaction(async (tx) => {
      const ad = await lockAd(tx, caller, params.id, 'change');
      if (!ad) throw Problem.notFound();
      const { ad_library_id, name, duration_ms, fit, muted, click_through } = { ...ad, ...body } as AdFields;
      if (ad_library_id !== ad.ad_library_id) await requireLibrary(tx, caller, ad_library_id);
      const fields = { ad_library_id, name, duration_ms, fit, muted, click_through };
      return viewAd(await replaceAd(tx, ad, fields, clock.now()), posterUrl);
    }),
  );
