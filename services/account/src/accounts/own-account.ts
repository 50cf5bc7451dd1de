import type { Principal } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import { lockMember } from '../members/index.ts';
import { requireOpenSession } from '../sessions/index.ts';
import type { Tx } from '../store.ts';
import { lockAccount } from './account.store.ts';

/**
 * Locks the caller's account and membership, and returns the account and when the caller signed in. Throws `forbidden`
 * when the caller is no longer the owner (its token may still say so), `conflict` when the account is closed, and
 * `unauthorized` when the session has ended.
 */
export async function lockOwnAccount(tx: Tx, caller: Principal) {
  const account = await lockAccount(tx, caller.accountId);
  const member = await lockMember(tx, caller.accountId, caller.id);
  if (member?.role !== 'owner') throw new Problem('forbidden', 'You are not the owner of this account any more.');
  if (account.status === 'closed') throw new Problem('conflict', 'The account is closed.');
  const { signed_in_at: signedInAt } = await requireOpenSession(tx, caller);
  return { account, signedInAt };
}
