import type { Principal } from '@attribution/auth';
import { Problem, switchAccount } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { findMembership, lockPlace, requireOpenSession, type Sessions } from '../sessions/index.ts';
import type { AccountDatabase, Tx } from '../store.ts';

/** The session that asks has passed MFA where its user has it. */
export const switchAccountEndpoint = ({ database, sessions }: { database: AccountDatabase; sessions: Sessions }) =>
  implement(switchAccount, async ({ body, caller, request }) =>
    database.transaction(async (tx) => {
      const place = await lockPlace(tx, caller.id, body.account_id);
      await requireOpenSession(tx, caller);
      if (!place) throw await refusalOf(tx, caller, body.account_id);
      return sessions.admit(tx, place, { via: 'switch', request });
    }),
  );

async function refusalOf(tx: Tx, caller: Principal, accountId: string): Promise<Problem> {
  const membership = await findMembership(tx, caller.id, accountId);
  if (membership?.status !== 'active') return Problem.notFound();
  if (membership.account.status === 'closed') return new Problem('forbidden', 'The account is closed.');
  return new Problem('unauthorized', 'This user is disabled.');
}
