import { Problem, transferOwnership, userGrantsChanged } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { actorOf, audit } from '../audit/index.ts';
import { changeMember, everyService, lockMember } from '../members/index.ts';
import { endSessions } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { findUser } from '../users/index.ts';
import { lockOwnAccount } from './own-account.ts';

/**
 * Concurrent transfers are serialized by the lock of the account's row. A unique index guarantees one owner per
 * account.
 */
export const transferOwnershipEndpoint = (deps: { database: AccountDatabase; outbox: Outbox; clock: Clock }) =>
  implement(transferOwnership, async ({ params, body, caller, request }) => {
    const { database, outbox, clock } = deps;
    const { accountId } = caller;
    if (params.id !== accountId) throw Problem.notFound();
    await database.transaction(async (tx) => {
      await lockOwnAccount(tx, caller);
      if (body.user_id === caller.id) throw new Problem('conflict', 'body.user_id: is the owner already.');
      const heir = await lockMember(tx, accountId, body.user_id);
      const user = heir && (await findUser(tx, heir.user_id));
      if (heir?.status !== 'active' || user?.disabled_at)
        throw new Problem('unprocessable', `body.user_id: ${body.user_id} is no active user of this account.`);
      const now = clock.now();
      // The old owner is changed first: a unique index allows only one owner.
      await changeMember(tx, accountId, caller.id, { role: 'admin', group_scope: 'all' }, []);
      await changeMember(
        tx,
        accountId,
        heir.user_id,
        { role: 'owner', group_scope: 'all', services: everyService, billing: false },
        [],
      );
      const both = { user_id: { in: [caller.id, heir.user_id] }, account_id: accountId };
      await endSessions(tx, both, 'grants_changed', now);
      await audit(tx, {
        accountId,
        action: 'account.handed_over',
        actor: actorOf(caller),
        subject: { type: 'user', id: heir.user_id },
        details: { from: caller.id },
        request,
        now,
      });
      const context = { accountId, occurredAt: now, traceparent: request.traceparent };
      const grantsChanged = (user_id: string) =>
        newEvent(userGrantsChanged, { account_id: accountId, user_id }, context);
      await outbox.append(tx, grantsChanged(caller.id), grantsChanged(heir.user_id));
    });
  });
