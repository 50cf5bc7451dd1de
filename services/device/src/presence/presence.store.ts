import type { DeviceStatus } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import type { ChangeStatement } from '@attribution/messaging';

/** What a request with a certificate is judged by, and what a heartbeat answers. */
export interface KnownCertificate {
  readonly fingerprint: string;
  readonly not_after: Date;
  readonly renew_after: Date;
  readonly used_at: Date | null;
  readonly revoked_at: Date | null;
  readonly device_id: string;
  readonly account_id: string;
  readonly account_closed: boolean;
  readonly status: DeviceStatus;
  readonly firmware_version: string | null;
  readonly desired_version: number;
  readonly applied_version: number;
  readonly heartbeat_interval: number;
  readonly manifest_version: number | null;
  readonly manifest_applied: number | null;
  readonly certificates_issued: number;
  readonly last_seen_at: Date | null;
  readonly told_online: boolean;
}

/** What is known of each of these certificates, in their order. */
export async function findByFingerprints(
  sql: Sql,
  fingerprints: readonly string[],
): Promise<(KnownCertificate | undefined)[]> {
  const rows = await sql.$queryRaw<KnownCertificate[]>`
    SELECT c.fingerprint, c.not_after, c.renew_after, c.used_at, c.revoked_at, c.device_id,
      d.account_id, d.status, d.firmware_version, d.desired_version, d.applied_version, d.heartbeat_interval,
      d.manifest_version, d.manifest_applied, d.certificates_issued,
      a.account_id IS NOT NULL AS account_closed, p.last_seen_at, coalesce(p.told_online, false) AS told_online
    FROM device_certificates c
    JOIN devices d ON d.id = c.device_id
    LEFT JOIN device_presence p ON p.device_id = c.device_id
    LEFT JOIN closed_accounts a ON a.account_id = d.account_id
    WHERE c.fingerprint = ANY(${fingerprints})`;
  const known = new Map(rows.map((row) => [row.fingerprint, row]));
  return fingerprints.map((fingerprint) => known.get(fingerprint));
}

/** A device that was heard. */
export interface Heard {
  readonly deviceId: string;
  readonly now: Date;
}

/** Moves forward when devices were heard last. */
export async function markSeen(sql: Sql, heard: readonly Heard[]): Promise<void> {
  const ids = heard.map(({ deviceId }) => deviceId);
  const times = heard.map(({ now }) => now);
  // In one order, so that two statements cannot deadlock.
  await sql.$executeRaw`
    INSERT INTO device_presence AS p (device_id, last_seen_at)
    SELECT device_id, max(at) FROM unnest(${ids}::text[], ${times}::timestamptz[]) AS heard (device_id, at)
    GROUP BY device_id ORDER BY device_id
    ON CONFLICT (device_id) DO UPDATE SET last_seen_at = excluded.last_seen_at
    WHERE p.last_seen_at < excluded.last_seen_at`;
}

/** Marks a device as told online, unless somebody has just done so. */
export const markOnline = (deviceId: string, now: Date): ChangeStatement => ({
  text: `changed AS (
    INSERT INTO device_presence AS p (device_id, last_seen_at, told_online) VALUES ($1, $2::timestamptz, true)
    ON CONFLICT (device_id) DO UPDATE SET last_seen_at = greatest(p.last_seen_at, excluded.last_seen_at), told_online = true
    WHERE NOT p.told_online
    RETURNING p.device_id AS id)`,
  values: [deviceId, now],
});

export interface Silent {
  readonly device_id: string;
  readonly account_id: string;
  readonly last_seen_at: Date;
}

/** Marks active devices that have not been heard for three intervals as told offline, at most so many, and returns them. */
export async function markSilent(tx: Sql, now: Date, limit: number): Promise<Silent[]> {
  return tx.$queryRaw<Silent[]>`
    UPDATE device_presence p SET told_online = false
    FROM devices d
    WHERE p.device_id = d.id AND p.device_id IN (
      SELECT s.device_id FROM device_presence s JOIN devices e ON e.id = s.device_id
      WHERE s.told_online AND e.status = 'active'
        AND s.last_seen_at <= ${now}::timestamptz - make_interval(secs => 3 * e.heartbeat_interval)
      ORDER BY s.device_id LIMIT ${limit} FOR UPDATE OF s SKIP LOCKED)
    RETURNING p.device_id, d.account_id, p.last_seen_at`;
}
