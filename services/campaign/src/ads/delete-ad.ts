import { deleteAd, Problem } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import { deleteAd as deleteRow, isNeeded, lockAd } from './ad.store.ts';
import type { Dependencies } from './dependencies.ts';

export const deleteAdEndpoint = ({ database }: Dependencies) =>
  implementWrite(deleteAd, database.sqlTransaction, async ({ params, caller, transaction }) =>
    transaction(async (tx) => {
      const ad = await lockAd(tx, caller, params.id, 'change');
      if (!ad) throw Problem.notFound();
      if (await isNeeded(tx, ad.id)) throw new Problem('conflict', 'A campaign that is not archived has this ad.');
      await deleteRow(tx, ad.id);
    }),
  );
