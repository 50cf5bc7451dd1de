import { type Principal, principalOf, refuseAccess } from '@attribution/auth';
import { type Endpoint, Problem } from '@attribution/contracts';
import type { Tx } from '../store.ts';
import { claimsOf } from './membership.ts';
import { requireOpenSession } from './own-session.ts';
import { isClosed, lockPlace } from './session.store.ts';

/**
 * The caller with the rights in the database, instead of those in the token. An access token stays valid after its
 * session has ended or its rights have changed (decision 18), so the database decides about keys, grants and
 * invitations, which outlive the token. Revoking a key or an invitation gives nobody new rights, so the token is
 * enough for that. Locks the place and the session until the commit. Throws `conflict` when the account is closed,
 * `unauthorized` when the session has ended, and `forbidden` when the rights are no longer sufficient.
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
