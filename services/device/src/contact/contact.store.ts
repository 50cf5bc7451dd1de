import type { DeviceStatus } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { db } from '../store.ts';

/** What a first contact is judged by, and what a certificate is issued by. */
export interface Contact {
  readonly id: string;
  readonly public_key: string;
  readonly status: DeviceStatus;
  /** Null until it is claimed. */
  readonly account_id: string | null;
  readonly account_closed: boolean;
  readonly certificates_issued: number;
  /** Whether the nonce is of this device, and still good. */
  readonly nonce_good: boolean;
  /** If it is: the device's certificates in force that nobody has used. */
  readonly unused: readonly string[];
}

interface Asked {
  readonly serial: string;
  readonly nonce: string;
  readonly now: Date;
}

/** The devices that have these serials now, and how each stands with its nonce: one statement, whatever there is to find. */
export async function findContacts(sql: Sql, asked: readonly Asked[]): Promise<(Contact | undefined)[]> {
  const of = <K extends keyof Asked>(name: K) => asked.map((one) => one[name]);
  const rows = await sql.$queryRaw<(Contact | { readonly id: null })[]>`
    SELECT found.*
    FROM unnest(${of('serial')}::text[], ${of('nonce')}::text[], ${of('now')}::timestamptz[])
      WITH ORDINALITY AS asked (serial, nonce, now, place)
    LEFT JOIN LATERAL (
      SELECT d.id, d.public_key, d.status, d.account_id, d.certificates_issued,
        a.account_id IS NOT NULL AS account_closed, n.nonce IS NOT NULL AS nonce_good,
        CASE WHEN n.nonce IS NULL THEN '{}' ELSE ARRAY(
          SELECT c.fingerprint FROM device_certificates c
          WHERE c.device_id = d.id AND c.used_at IS NULL AND c.revoked_at IS NULL) END AS unused
      FROM devices d
      LEFT JOIN closed_accounts a ON a.account_id = d.account_id
      LEFT JOIN device_nonces n ON n.nonce = asked.nonce AND n.device_id = d.id AND n.expires_at > asked.now
      WHERE d.serial = asked.serial ORDER BY d.status = 'retired', d.created_at DESC LIMIT 1
    ) AS found ON true
    ORDER BY place`;
  return rows.map((row) => (row.id === null ? undefined : row));
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
