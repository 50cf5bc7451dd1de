import { X509Certificate } from 'node:crypto';
import type { BenchDatabase } from '../database.ts';

export interface FilledDevice {
  readonly id: string;
  /** Of its certificate. */
  readonly fingerprint: string;
}

/** SHA-256 of a certificate in PEM, as the platform writes it. */
export const fingerprintOf = (cert: string): string =>
  new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase();

/** The serial of a device that was filled in. */
export const serialOf = (id: string): string => `PLAYER-${id.slice(-24).toUpperCase()}`;
const serialInSql = `'PLAYER-' || upper(right(id, 24))`;

export interface FillOptions {
  readonly heartbeatSeconds?: number;
  /** That of the factory, of them all; PEM. */
  readonly publicKey?: string;
}

/**
 * Puts active devices into an account, as they are after some weeks: each has used a certificate, is online, and is installed
 * in a location of ten.
 */
export async function fillDevices(
  database: BenchDatabase,
  account: string,
  devices: readonly FilledDevice[],
  { heartbeatSeconds = 60, publicKey = 'none' }: FillOptions = {},
): Promise<void> {
  const rows =
    'ROWS FROM (jsonb_to_recordset($1) AS (id text, fingerprint text)) WITH ORDINALITY AS made(id, fingerprint, n)';
  const made = JSON.stringify(devices);
  await database.sql(
    `INSERT INTO devices (id, serial, public_key, key_id, name, model, firmware_version, status, account_id,
       heartbeat_interval, certificates_issued, claimed_at, activated_at, created_at, updated_at)
     SELECT id, ${serialInSql}, $4, id, 'Screen ' || n, 'Simulated player', '1.0.0', 'active', $2,
       $3, 1, now(), now(), now() - interval '30 days' + n * interval '1 s', now()
     FROM ${rows}`,
    [made, account, heartbeatSeconds, publicKey],
  );
  await database.sql(
    `INSERT INTO device_certificates (fingerprint, device_id, serial, not_before, not_after, renew_after, number, used_at)
     SELECT fingerprint, id, left(fingerprint, 32), now() - interval '1 h', now() + interval '30 days',
       now() + interval '20 days', 1, now()
     FROM ${rows}`,
    [made],
  );
  await database.sql(
    `INSERT INTO device_presence (device_id, last_seen_at, told_online) SELECT id, now(), true FROM ${rows}`,
    [made],
  );
  await database.sql(
    `INSERT INTO known_locations (id, account_id, group_id, aggregate_version)
     SELECT 'loc_' || n / 10, $2, 'grp_' || n / 1000, 1 FROM ${rows} WHERE n % 10 = 0 OR n = 1
     ON CONFLICT DO NOTHING`,
    [made, account],
  );
  await database.sql(
    `INSERT INTO known_installations (id, account_id, device_id, location_id, live, aggregate_version)
     SELECT 'ins_' || right(id, 36), $2, id, 'loc_' || n / 10, true, 1 FROM ${rows}`,
    [made, account],
  );
  await database.sql('VACUUM ANALYZE');
}
