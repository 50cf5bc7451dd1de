import { logout } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { actorOf, audit } from '../audit/index.ts';
import { endSessions, wireSessionId } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';

/** The token of an API key belongs to no session, so there is nothing to end. */
export const logoutEndpoint = ({ database, clock }: { database: AccountDatabase; clock: Clock }) =>
  implement(logout, async ({ caller, request }) => {
    const { id: userId, accountId, sessionId: id } = caller;
    if (!id) return;
    await database.transaction(async (tx) => {
      const now = clock.now();
      if ((await endSessions(tx, { id, user_id: userId }, 'logout', now)) === 0) return;
      await audit(tx, {
        accountId,
        action: 'session.ended',
        actor: actorOf(caller),
        subject: { type: 'session', id: wireSessionId(id) },
        details: { reason: 'logout' },
        request,
        now,
      });
    });
  });
