import { administersGroup, type Principal } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { lockGroup, scopeOf } from '../groups/index.ts';

/** Requires a group that exists for the caller (else 422) and that the caller may set up (else 403). */
export async function requireSetUpRight(tx: Sql, caller: Principal, groupId: string): Promise<void> {
  const found = await lockGroup(tx, scopeOf(caller), groupId, 'shared');
  if (!found) throw new Problem('unprocessable', `body.group_id: there is no group ${groupId} in this account.`);
  refuseOthers(caller, groupId);
}

/** Requires the right in the group of a location that the caller sees. */
export function refuseOthers(caller: Principal, groupId: string): void {
  if (!administersGroup(caller, groupId)) {
    throw new Problem('forbidden', 'Only an owner, an admin or an admin of the group sets up its locations.');
  }
}
