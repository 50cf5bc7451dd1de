import { Problem, switchAccount } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { findMemberships, type Sessions } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { findUser } from '../users/index.ts';

/** The session that asks has passed MFA where its user has it. */
export const switchAccountEndpoint = ({ database, sessions }: { database: AccountDatabase; sessions: Sessions }) =>
  implement(switchAccount, async ({ body, caller, request }) => {
    const user = await findUser(database.prisma, caller.id);
    if (!user || user.disabled_at)
      throw new Problem('unauthorized', 'This user is disabled or does not exist any more.');
    const memberships = await findMemberships(database, user.id);
    const membership = memberships.find(({ account_id }) => account_id === body.account_id);
    if (membership?.status !== 'active') throw Problem.notFound();
    const { account } = membership;
    if (account.status === 'closed') throw new Problem('forbidden', 'The account is closed.');
    if ((user.require_mfa || account.require_mfa) && !user.mfa_enabled_at)
      return sessions.setupEnvelope(user, account.id);
    return database.transaction((tx) => sessions.open(tx, user, { membership, account }, request));
  });
