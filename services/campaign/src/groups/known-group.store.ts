import type { Sql } from '@attribution/database';
import { db } from '../store.ts';

/** Whether the group belongs to this account, as known from Organization's events. */
export async function isKnownGroup(tx: Sql, accountId: string, id: string): Promise<boolean> {
  const group = db(tx).selectFrom('known_groups').select('id').where('id', '=', id).where('account_id', '=', accountId);
  return (await group.executeTakeFirst()) !== undefined;
}
