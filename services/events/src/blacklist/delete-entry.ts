import { deleteBlacklistEntry, Problem } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import type { Dependencies } from './dependencies.ts';
import { deleteEntry, findEntry, markTouched } from './entry.store.ts';
import { lockBlacklist } from './lock.store.ts';

export const deleteEntryEndpoint = ({ database, clock }: Dependencies) =>
  implementWrite(deleteBlacklistEntry, database.sqlTransaction, async ({ params: { id }, caller, transaction }) =>
    transaction(async (tx) => {
      const { accountId } = caller;
      await lockBlacklist(tx, accountId);
      if (!(await findEntry(tx, caller, id))) throw Problem.notFound();
      await markTouched(tx, accountId, id, clock.now());
      await deleteEntry(tx, accountId, id);
    }),
  );
