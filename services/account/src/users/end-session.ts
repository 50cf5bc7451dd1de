import { endSession, Problem } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { actorOf, audit } from '../audit/index.ts';
import { endSessions, findSession, sessionIdOf } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';

export const endSessionEndpoint = ({ database, clock }: { database: AccountDatabase; clock: Clock }) =>
  implement(endSession, async ({ params, caller, request }) => {
    const id = sessionIdOf(params.id);
    await database.transaction(async (tx) => {
      const session = await findSession(tx, id, caller.id);
      if (!session) throw Problem.notFound();
      const now = clock.now();
      const ended = await endSessions(tx, { id, user_id: caller.id }, 'ended_by_user', now);
      if (ended === 0) return;
      await audit(tx, {
        accountId: session.account_id,
        action: 'session.ended',
        actor: actorOf(caller),
        subject: { type: 'session', id: params.id },
        details: { reason: 'ended_by_user' },
        request,
        now,
      });
    });
  });
