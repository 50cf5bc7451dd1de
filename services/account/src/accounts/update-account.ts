import { Problem, updateAccount } from '@attribution/contracts';
import { type Clock, implement } from '@attribution/service';
import { actorOf, audit } from '../audit/index.ts';
import { viewAccount } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { changeAccount } from './account.store.ts';

export const updateAccountEndpoint = ({ database, clock }: { database: AccountDatabase; clock: Clock }) =>
  implement(updateAccount, async ({ params, body, caller, request }) => {
    const { accountId } = caller;
    if (params.id !== accountId) throw Problem.notFound();
    const { name, require_mfa } = body;
    return database.transaction(async (tx) => {
      const now = clock.now();
      const change = { ...(name !== undefined && { name }), ...(require_mfa !== undefined && { require_mfa }) };
      const account = await changeAccount(tx, accountId, change, now);
      await audit(tx, {
        accountId,
        action: 'account.changed',
        actor: actorOf(caller),
        subject: { type: 'account', id: accountId },
        details: change,
        request,
        now,
      });
      return viewAccount(account);
    });
  });
