import type { Sql } from '@attribution/database';
import { db } from '../store.ts';

/** Whether a location is known to be another account's. */
export async function isForeignLocation(sql: Sql, accountId: string, locationId: string): Promise<boolean> {
  const known = db(sql).selectFrom('known_locations').select('id').where('id', '=', locationId);
  return (await known.where('account_id', '<>', accountId).executeTakeFirst()) !== undefined;
}
