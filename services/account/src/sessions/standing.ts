import { type Principal, principalOf, refuseAccess } from '@attribution/auth';
import { type Endpoint, Problem } from '@attribution/contracts';
import type { Tx } from '../store.ts';
import { claimsOf } from './membership.ts';
import { requireOpenSession } from './own-session.ts';
import { isClosed, lockPlace } from './session.store.ts';

/**
 * The caller as the database knows it. An access token lives on after its session has ended or its rights have changed
 * (decision 18), so keys, grants and invitations, which would outlive it, are given by what holds now; taking a key or
 * an invitation back gives nobody anything, and goes by the token. Locks the place and the session until the commit.
 * Throws `conflict` in a closed account, `unauthorized` where the session has ended, `forbidden` where the rights do
 * not suffice any more.
 */
export async function requireStanding(tx: Tx, endpoint: Endpoint, caller: Principal): Promise<Principal> {
  const place = await lockPlace(tx, caller.id, caller.accountId);
  if (!place && (await isClosed(tx, caller.accountId))) throw new Problem('conflict', 'The account is closed.');
  await requireOpenSession(tx, caller);
  if (!place) throw new Problem('forbidden', 'You are no active user of this account any more.');
  const claims = {
    ...claimsOf(place.membership, caller.accountType),
    ...(caller.sessionId && { sid: caller.sessionId }),
  };
  const standing = principalOf(claims);
  const refused = refuseAccess(endpoint, standing);
  if (refused) throw refused;
  return standing;
}
