import { type Principal, seesGroup } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { isKnownGroup } from './known-group.store.ts';

/**
 * Throws `unprocessable` unless the group belongs to the account and the caller holds it. To the caller, other groups
 * do not exist. A narrowed caller gives what it makes to a group of its own only: without a group, the group's admin would
 * lose it.
 */
export async function requireGroup(tx: Sql, caller: Principal, groupId: string | null): Promise<void> {
  if (groupId === null) {
    if (caller.groups === null) return;
    throw new Problem('unprocessable', 'body.group_id: must be one of your groups.');
  }
  const chosen = seesGroup(caller, groupId) && (await isKnownGroup(tx, caller.accountId, groupId));
  if (!chosen) throw new Problem('unprocessable', `body.group_id: there is no group ${groupId} in this account.`);
}

/** The group for something new that names none: the caller's group, if the caller has exactly one (decision 40). */
export function defaultGroupId({ groups }: Principal): string | null {
  const [only, ...more] = groups?.keys() ?? [];
  return only !== undefined && more.length === 0 ? only : null;
}
