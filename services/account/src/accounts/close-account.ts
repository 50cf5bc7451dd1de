import { accountClosed, closeAccount, Problem } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { actorOf, audit } from '../audit/index.ts';
import type { FreshProof } from '../mfa/index.ts';
import { endSessions, viewAccount } from '../sessions/index.ts';
import type { Tx } from '../store.ts';
import { changeAccount } from './account.store.ts';
import { lockOwnAccount } from './own-account.ts';

export const closeAccountEndpoint = (deps: { outbox: Outbox; freshProof: FreshProof; clock: Clock }) =>
  implement(closeAccount, async ({ params, body, caller, request }) => {
    const { outbox, freshProof, clock } = deps;
    const { id: userId, accountId } = caller;
    if (params.id !== accountId) throw Problem.notFound();
    const record = {
      accountId,
      action: 'account.closed',
      actor: actorOf(caller),
      subject: { type: 'account', id: accountId },
      request,
    };
    const decide = (tx: Tx) => lockOwnAccount(tx, caller);
    return freshProof.require({ userId, given: body, record, decide }, async (tx) => {
      const now = clock.now();
      const account = await changeAccount(tx, accountId, { status: 'closed' }, now);
      const ended = await endSessions(tx, { account_id: accountId }, 'account_closed', now);
      await audit(tx, { ...record, details: { sessions_ended: ended }, now });
      const context = { accountId, occurredAt: now, traceparent: request.traceparent };
      await outbox.append(tx, newEvent(accountClosed, { account_id: accountId }, context));
      return viewAccount(account);
    });
  });
