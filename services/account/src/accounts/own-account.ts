import type { Principal } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import { lockMember } from '../members/index.ts';
import type { Tx } from '../store.ts';
import { lockAccount } from './account.store.ts';

/**
 * Locks the caller's account and the caller's membership. Throws `forbidden` where the caller is the owner no longer,
 * whatever its token says, and `conflict` where the account is closed.
 */
export async function lockOwnAccount(tx: Tx, { accountId, id }: Principal) {
  const account = await lockAccount(tx, accountId);
  const member = await lockMember(tx, accountId, id);
  if (member?.role !== 'owner') throw new Problem('forbidden', 'You are not the owner of this account any more.');
  if (account.status === 'closed') throw new Problem('conflict', 'The account is closed.');
  return account;
}
