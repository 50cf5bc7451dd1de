import { getMyPermissions, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { findMembership } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { permissionsOf } from './permissions.ts';

/** Read from the database instead of the token, so that changes are visible at once (spec §4.2). */
export const getMyPermissionsEndpoint = (database: AccountDatabase) =>
  implement(getMyPermissions, async ({ caller }) => {
    const membership = await findMembership(database.prisma, caller.id, caller.accountId);
    if (membership?.status !== 'active')
      throw new Problem('unauthorized', 'You are not a member of this account any more.');
    if (membership.account.status === 'closed') throw new Problem('unauthorized', 'The account is closed.');
    return permissionsOf(membership);
  });
