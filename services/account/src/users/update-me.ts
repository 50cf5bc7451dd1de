import { Problem, updateMe } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { actorOf, audit } from '../audit/index.ts';
import { viewUser } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { findUser, renameUser } from './user.store.ts';

export const updateMeEndpoint = ({ database, clock }: { database: AccountDatabase; clock: Clock }) =>
  implement(updateMe, async ({ body, caller, request }) =>
    database.transaction(async (tx) => {
      const user = await findUser(tx, caller.id);
      if (!user) throw new Problem('unauthorized', 'This user does not exist any more.');
      const { full_name } = body;
      if (full_name === undefined || full_name === user.full_name) return viewUser(user);
      const now = clock.now();
      const renamed = await renameUser(tx, user.id, full_name, now);
      await audit(tx, {
        accountId: caller.accountId,
        action: 'user.changed',
        actor: actorOf(caller),
        subject: { type: 'user', id: user.id },
        details: { fields: ['full_name'] },
        request,
        now,
      });
      return viewUser(renamed);
    }),
  );
