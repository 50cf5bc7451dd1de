import type { DeviceStatus } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { db } from '../store.ts';

/** What a first contact is judged by. */
export interface Contact {
  readonly id: string;
  readonly public_key: string;
  readonly status: DeviceStatus;
  readonly account_closed: boolean;
  /** Whether the nonce is of this device, and still good. */
  readonly nonce_good: boolean;
}

/** The device that has this serial now, and how it stands with the nonce: one statement, whatever there is to find. */
export async function findContact(sql: Sql, serial: string, nonce: string, now: Date): Promise<Contact | undefined> {
  const rows = await sql.$queryRaw<Contact[]>`
    SELECT d.id, d.public_key, d.status, a.account_id IS NOT NULL AS account_closed, n.nonce IS NOT NULL AS nonce_good
    FROM devices d
    LEFT JOIN closed_accounts a ON a.account_id = d.account_id
    LEFT JOIN device_nonces n ON n.nonce = ${nonce} AND n.device_id = d.id AND n.expires_at > ${now}
    WHERE d.serial = ${serial} ORDER BY d.status = 'retired', d.created_at DESC LIMIT 1`;
  return rows[0];
}

/** Called with the device locked, so that no two of its nonces are added at once. */
export async function addNonce(
  tx: Sql,
  row: { nonce: string; device_id: string; expires_at: Date },
  most: number,
): Promise<void> {
  const { device_id } = row;
  await db(tx).insertInto('device_nonces').values(row).execute();
  const newest = db(tx)
    .selectFrom('device_nonces')
    .select('nonce')
    .where('device_id', '=', device_id)
    .orderBy('expires_at', 'desc')
    .orderBy(sql`nonce = ${row.nonce}`, 'desc')
    .limit(most);
  await db(tx)
    .deleteFrom('device_nonces')
    .where('device_id', '=', device_id)
    .where('nonce', 'not in', newest)
    .execute();
}

/** Uses up a nonce. Of several that try at once, one gets true. */
export async function spendNonce(tx: Sql, nonce: string, deviceId: string, now: Date): Promise<boolean> {
  const spent = await db(tx)
    .deleteFrom('device_nonces')
    .where('nonce', '=', nonce)
    .where('device_id', '=', deviceId)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return spent.numDeletedRows > 0n;
}
