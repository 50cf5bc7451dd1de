import { type Principal, seesGroup } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { isKnownGroup } from '../groups/index.ts';

/**
 * Throws `unprocessable` unless the group belongs to the account and the caller holds it. To the caller, other groups
 * do not exist.
 */
export async function requireGroup(tx: Sql, caller: Principal, groupId: string): Promise<void> {
  const chosen = seesGroup(caller, groupId) && (await isKnownGroup(tx, caller.accountId, groupId));
  if (!chosen) throw new Problem('unprocessable', `body.group_id: there is no group ${groupId} in this account.`);
}
