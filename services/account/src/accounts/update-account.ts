import { Problem, updateAccount } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { actorOf, audit } from '../audit/index.ts';
import { viewAccount } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { changeAccount } from './account.store.ts';
import { lockOwnAccount } from './own-account.ts';

export const updateAccountEndpoint = ({ database, clock }: { database: AccountDatabase; clock: Clock }) =>
  implement(updateAccount, async ({ params, body, caller, request }) => {
    const { accountId } = caller;
    if (params.id !== accountId) throw Problem.notFound();
    return database.transaction(async (tx) => {
      const { account } = await lockOwnAccount(tx, caller);
      const change = changeOf(account, body);
      if (Object.keys(change).length === 0) return viewAccount(account);
      const now = clock.now();
      const changed = await changeAccount(tx, accountId, change, now);
      await audit(tx, {
        accountId,
        action: 'account.changed',
        actor: actorOf(caller),
        subject: { type: 'account', id: accountId },
        details: change,
        request,
        now,
      });
      return viewAccount(changed);
    });
  });

/** The fields of the request that differ from the stored account. */
function changeOf(
  account: { name: string; require_mfa: boolean },
  {
    name = account.name,
    require_mfa = account.require_mfa,
  }: { name?: string | undefined; require_mfa?: boolean | undefined },
) {
  return {
    ...(name !== account.name && { name }),
    ...(require_mfa !== account.require_mfa && { require_mfa }),
  };
}
