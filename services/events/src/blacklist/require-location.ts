import { type Principal, seesGroup } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { type AskEstate, findLocation } from '../estate/index.ts';

/**
 * Throws `unprocessable` unless the caller sees the location; one that is gone is seen by account-wide callers. One that is
 * not known yet is asked for: throws `unavailable` where that cannot be done.
 */
export async function requireLocation(sql: Sql, ask: AskEstate, caller: Principal, id: string): Promise<void> {
  const { accountId } = caller;
  let known = await findLocation(sql, accountId, id);
  if (!known) {
    await ask({ accountId }, [id]);
    known = await findLocation(sql, accountId, id);
  }
  const isSeen = known && (caller.groups === null || (!known.gone && seesGroup(caller, known.group_id)));
  if (!isSeen) throw new Problem('unprocessable', `body.location_id: there is no location ${id} in this account.`);
}
