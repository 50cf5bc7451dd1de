import { Problem, removeUser, userRemoved } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { actorOf, audit } from '../audit/index.ts';
import { endSessions, requireStanding } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { deleteMember, lockMember, lockMembers } from './member.store.ts';
import { requireTouchable } from './member-rules.ts';

/** Removes only the membership: the user may be in other accounts, and keys that the user created stay. */
export const removeUserEndpoint = (deps: { database: AccountDatabase; outbox: Outbox; clock: Clock }) =>
  implement(removeUser, async ({ params, caller, request }) => {
    const { database, outbox, clock } = deps;
    const { accountId } = caller;
    await database.transaction(async (tx) => {
      await lockMembers(tx, accountId);
      await requireStanding(tx, removeUser, caller);
      const member = await lockMember(tx, accountId, params.id);
      if (!member) throw Problem.notFound();
      requireTouchable(caller, member);
      if (member.role === 'owner')
        throw new Problem('conflict', 'The owner is never removed: hand the account over first.');
      const now = clock.now();
      await deleteMember(tx, accountId, member.user_id);
      await endSessions(tx, { user_id: member.user_id, account_id: accountId }, 'removed', now);
      await audit(tx, {
        accountId,
        action: 'user.removed',
        actor: actorOf(caller),
        subject: { type: 'user', id: member.user_id },
        request,
        now,
      });
      const data = { account_id: accountId, user_id: member.user_id };
      const context = { accountId, occurredAt: now, traceparent: request.traceparent };
      await outbox.append(tx, newEvent(userRemoved, data, context));
    });
  });
