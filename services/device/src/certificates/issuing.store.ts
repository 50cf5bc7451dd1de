import type { DeviceStatus } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import type { ChangeStatement } from '@attribution/messaging';
import { db } from '../store.ts';
import type { CertificateRow } from './certificate.store.ts';

/** What a device shows to get a certificate: a nonce, which is used up, or its present certificate, which stays in force. */
export type Proof = 'nonce' | 'certificate';

/** The next certificate of a device, and as what the device was found. */
export interface NextCertificate {
  /** Its number is one more than the certificates that the device had when it was found. */
  readonly row: CertificateRow;
  readonly account_id: string;
  /** Null: any. With the first certificate a claimed device becomes active. */
  readonly status: DeviceStatus | null;
  /** The nonce, or the fingerprint of the present certificate. */
  readonly proof: string;
  /** The fingerprints of certificates that nobody has used, which it takes the place of. */
  readonly replaced: readonly string[];
  readonly now: Date;
}

/** Whose proof holds. */
const proven: Readonly<Record<Proof, string>> = {
  nonce: `
    DELETE FROM device_nonces n USING found f
    WHERE n.nonce = f.proof AND n.device_id = f.device_id AND n.expires_at > f.now
    RETURNING f.*`,
  certificate: `
    SELECT f.* FROM device_certificates c JOIN found f ON c.fingerprint = f.proof AND c.device_id = f.device_id
    WHERE c.revoked_at IS NULL FOR UPDATE OF c`,
};

/**
 * Issues certificates to devices, at most one to each. Its rows are the devices that got theirs, and the certificates that
 * were revoked for it. A device is locked first; it gets nothing if it is no longer as it was found. Until then the statement
 * sees the database as it was when it began to wait for the lock; but whoever issues a certificate counts it under this lock,
 * so no other has come since, and what else changes in rows that it updates Postgres checks again.
 */
export function issuing(by: Proof, next: readonly NextCertificate[]): ChangeStatement {
  const text = `
  wanted AS (
    SELECT * FROM json_to_recordset($1::json) AS wanted(
      device_id text, account_id text, status "DeviceStatus", proof text, replaced text[], now timestamptz,
      fingerprint text, serial text, not_before timestamptz, not_after timestamptz, renew_after timestamptz, number int)
  ), found AS MATERIALIZED (
    SELECT w.* FROM devices d JOIN wanted w ON w.device_id = d.id
    WHERE d.account_id = w.account_id AND d.certificates_issued = w.number - 1 AND (w.status IS NULL OR d.status = w.status)
    ORDER BY d.id FOR UPDATE OF d
  ), proven AS MATERIALIZED (${proven[by]}
  ), revoked AS (
    UPDATE device_certificates c SET revoked_at = p.now, revocation_reason = 'superseded' FROM proven p
    WHERE c.fingerprint = ANY(p.replaced) AND c.device_id = p.device_id AND c.used_at IS NULL AND c.revoked_at IS NULL
    RETURNING c.fingerprint
  ), issued AS (
    INSERT INTO device_certificates (fingerprint, device_id, serial, not_before, not_after, renew_after, number)
    SELECT fingerprint, device_id, serial, not_before, not_after, renew_after, number FROM proven
  ), counted AS (
    UPDATE devices d SET
      certificates_issued = p.number,
      status = CASE WHEN p.status = 'claimed' THEN 'active' ELSE d.status END,
      activated_at = CASE WHEN p.status = 'claimed' THEN p.now ELSE d.activated_at END,
      updated_at = CASE WHEN p.status = 'claimed' THEN p.now ELSE d.updated_at END
    FROM proven p WHERE d.id = p.device_id
    RETURNING d.id
  ), changed AS (SELECT id FROM counted UNION ALL SELECT fingerprint FROM revoked)`;
  const wanted = next.map(({ row, ...found }) => ({ ...row, ...found }));
  return { text, values: [JSON.stringify(wanted)] };
}

/** The certificates of a device that are in force and that nobody has used. */
export async function findUnused(sql: Sql, deviceId: string): Promise<string[]> {
  const rows = await db(sql)
    .selectFrom('device_certificates')
    .select('fingerprint')
    .where('device_id', '=', deviceId)
    .where('used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .execute();
  return rows.map(({ fingerprint }) => fingerprint);
}
