import { Problem, switchAccount } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement, markAudited } from '@attribution/service';
import { actorOf, audit } from '../audit/index.ts';
import {
  findMembership,
  lockPlace,
  lockSignIn,
  type Membership,
  type Sessions,
  sessionEnded,
} from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';

/** The new session continues the sign-in of the current one: its MFA, and its 90 days. */
export const switchAccountEndpoint = (deps: { database: AccountDatabase; sessions: Sessions; clock: Clock }) =>
  implement(switchAccount, async ({ body, caller, request }) => {
    const { database, sessions, clock } = deps;
    const { account_id } = body;
    const answer = await database.transaction(async (tx) => {
      const place = await lockPlace(tx, caller.id, account_id);
      const signIn = await lockSignIn(tx, caller, clock.now());
      if (place && signIn) return sessions.admit(tx, place, { via: 'switch', request, signIn });
      const membership = place?.membership ?? (await findMembership(tx, caller.id, account_id));
      const { reason, problem } = signIn ? refusalOf(membership) : { reason: 'session_ended', problem: sessionEnded() };
      await audit(tx, {
        // The refusal goes to the log of the caller's own account when the caller is not in the other account.
        accountId: membership ? account_id : caller.accountId,
        action: 'session.opened',
        outcome: 'refused',
        actor: actorOf(caller),
        subject: { type: 'user', id: caller.id },
        details: { via: 'switch', reason, account_id },
        request,
        now: clock.now(),
      });
      return problem; // The problem is returned, not thrown, so that the audit record is committed.
    });
    if (answer instanceof Problem) throw markAudited(answer);
    return answer;
  });

function refusalOf(membership: (Membership & { account: { status: string } }) | undefined) {
  if (!membership) return { reason: 'not_a_member', problem: Problem.notFound() };
  if (membership.status !== 'active') return { reason: 'membership_disabled', problem: Problem.notFound() };
  if (membership.account.status === 'closed')
    return { reason: 'account_closed', problem: new Problem('forbidden', 'The account is closed.') };
  return { reason: 'user_disabled', problem: new Problem('unauthorized', 'This user is disabled.') };
}
