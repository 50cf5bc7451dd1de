import { Problem } from '@attribution/contracts';
import { maxUsersOf } from '../accounts/index.ts';
import type { Tx } from '../store.ts';
import { countUsers, lockRoom } from './invitation.store.ts';

/**
 * Throws `unprocessable` when the plan allows no further user; those who are invited count. Nobody else invites into the
 * account until the commit, so that no two take the last place.
 */
export async function requireRoom(tx: Tx, accountId: string, now: Date): Promise<void> {
  const max = await maxUsersOf(tx, accountId);
  if (max === null) return;
  await lockRoom(tx, accountId);
  if ((await countUsers(tx, accountId, now)) < max) return;
  throw new Problem('unprocessable', `The plan allows ${max} users, with those who are invited.`);
}
