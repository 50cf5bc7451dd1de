import { Problem, updateMe } from '@attribution/contracts';
import { type Clock, implement } from '@attribution/service';
import { viewUser } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { findUser, renameUser } from './user.store.ts';

export const updateMeEndpoint = ({ database, clock }: { database: AccountDatabase; clock: Clock }) =>
  implement(updateMe, async ({ body, caller }) =>
    database.transaction(async (tx) => {
      const user = await findUser(tx, caller.id);
      if (!user) throw new Problem('unauthorized', 'This user does not exist any more.');
      if (body.full_name === undefined) return viewUser(user);
      return viewUser(await renameUser(tx, user.id, body.full_name, clock.now()));
    }),
  );
