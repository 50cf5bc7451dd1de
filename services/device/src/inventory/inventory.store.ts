import type { Sql } from '@attribution/database';
import { db } from '../store.ts';

/** Replaces what a device consists of; its firmware is what it says there, if it says so. */
export async function replaceInventory(
  sql: Sql,
  deviceId: string,
  inventory: { readonly firmware_version?: string | undefined },
  now: Date,
): Promise<void> {
  const { firmware_version } = inventory;
  await db(sql)
    .updateTable('devices')
    .set({
      inventory: JSON.stringify(inventory),
      updated_at: now,
      ...(firmware_version !== undefined && { firmware_version }),
    })
    .where('id', '=', deviceId)
    .execute();
}
