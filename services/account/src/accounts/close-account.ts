import { accountClosed, closeAccount, Problem } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import { type Clock, implement } from '@attribution/service';
import { actorOf, audit } from '../audit/index.ts';
import { endSessions, viewAccount } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { changeAccount, lockAccount } from './account.store.ts';

export const closeAccountEndpoint = (parts: { database: AccountDatabase; outbox: Outbox; clock: Clock }) =>
  implement(closeAccount, async ({ params, caller, request }) => {
    const { database, outbox, clock } = parts;
    const { accountId } = caller;
    if (params.id !== accountId) throw Problem.notFound();
    return database.transaction(async (tx) => {
      const { status } = await lockAccount(tx, accountId);
      if (status === 'closed') throw new Problem('conflict', 'The account is closed already.');
      const now = clock.now();
      const account = await changeAccount(tx, accountId, { status: 'closed' }, now);
      await endSessions(tx, { account_id: accountId }, 'account_closed', now);
      await audit(tx, {
        accountId,
        action: 'account.closed',
        actor: actorOf(caller),
        subject: { type: 'account', id: accountId },
        request,
        now,
      });
      const context = { accountId, occurredAt: now, traceparent: request.traceparent };
      await outbox.append(tx, newEvent(accountClosed, { account_id: accountId }, context));
      return viewAccount(account);
    });
  });
