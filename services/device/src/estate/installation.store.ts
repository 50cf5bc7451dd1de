import type { Sql } from '@attribution/database';
import { db } from '../store.ts';

/** Whether a device is in a live installation, as known from Organization's events. */
export async function isInstalled(
  tx: Sql,
  { id, account_id }: { readonly id: string; readonly account_id: string },
): Promise<boolean> {
  const live = db(tx).selectFrom('known_installations').select('id').where('device_id', '=', id);
  const own = live.where('account_id', '=', account_id).where('live', '=', true);
  return (await own.limit(1).executeTakeFirst()) !== undefined;
}
