import { accountClosed, closeAccount, Problem } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { actorOf, audit } from '../audit/index.ts';
import { endSessions, viewAccount } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { changeAccount } from './account.store.ts';
import { lockOwnAccount } from './own-account.ts';

export const closeAccountEndpoint = (deps: { database: AccountDatabase; outbox: Outbox; clock: Clock }) =>
  implement(closeAccount, async ({ params, caller, request }) => {
    const { database, outbox, clock } = deps;
    const { accountId } = caller;
    if (params.id !== accountId) throw Problem.notFound();
    return database.transaction(async (tx) => {
      await lockOwnAccount(tx, caller);
      const now = clock.now();
      const account = await changeAccount(tx, accountId, { status: 'closed' }, now);
      const ended = await endSessions(tx, { account_id: accountId }, 'account_closed', now);
      await audit(tx, {
        accountId,
        action: 'account.closed',
        actor: actorOf(caller),
        subject: { type: 'account', id: accountId },
        details: { sessions_ended: ended },
        request,
        now,
      });
      const context = { accountId, occurredAt: now, traceparent: request.traceparent };
      await outbox.append(tx, newEvent(accountClosed, { account_id: accountId }, context));
      return viewAccount(account);
    });
  });
