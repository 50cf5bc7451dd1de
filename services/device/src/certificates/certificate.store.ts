import type { RevocationReason } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import type { Selectable } from 'kysely';
import type { DeviceCertificate } from '../generated/kysely/types.ts';
import { db } from '../store.ts';

export type CertificateRow = Selectable<DeviceCertificate>;

/** Locks the certificate; undefined unless it is in force. The device is locked before it. */
export async function lockLive(tx: Sql, fingerprint: string): Promise<CertificateRow | undefined> {
  return db(tx)
    .selectFrom('device_certificates')
    .selectAll()
    .where('fingerprint', '=', fingerprint)
    .where('revoked_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
}

export async function isLive(sql: Sql, fingerprint: string): Promise<boolean> {
  const found = db(sql).selectFrom('device_certificates').select('number').where('fingerprint', '=', fingerprint);
  return (await found.where('revoked_at', 'is', null).executeTakeFirst()) !== undefined;
}

export async function markUsed(tx: Sql, fingerprint: string, now: Date): Promise<void> {
  await db(tx)
    .updateTable('device_certificates')
    .set({ used_at: now })
    .where('fingerprint', '=', fingerprint)
    .where('used_at', 'is', null)
    .execute();
}

interface Which {
  readonly deviceId: string;
  /** All but this one. */
  readonly except?: string;
  /** Only those that are not over. */
  readonly after?: Date;
}

/** Revokes certificates of a device that are in force, and returns their fingerprints. */
export async function revoke(tx: Sql, which: Which, reason: RevocationReason, now: Date): Promise<string[]> {
  let live = db(tx)
    .updateTable('device_certificates')
    .set({ revoked_at: now, revocation_reason: reason })
    .where('device_id', '=', which.deviceId)
    .where('revoked_at', 'is', null);
  if (which.except !== undefined) live = live.where('fingerprint', '<>', which.except);
  if (which.after) live = live.where('not_after', '>', which.after);
  const rows = await live.returning('fingerprint').execute();
  return rows.map(({ fingerprint }) => fingerprint);
}
