import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { estateIsRead } from '../estate/index.ts';
import { db } from '../store.ts';

/** Locks the manifests of those of the devices that are known, in the order of ids, until the commit. */
export async function lockManifests(tx: Sql, deviceIds: readonly string[]): Promise<void> {
  await sql`
    INSERT INTO device_manifests (device_id, version, hash)
    SELECT id, 0, '' FROM known_devices WHERE id = ANY(${deviceIds}::text[]) ORDER BY id ON CONFLICT DO NOTHING`.execute(
    db(tx),
  );
  await sql`
    SELECT device_id FROM device_manifests WHERE device_id = ANY(${deviceIds}::text[]) ORDER BY device_id FOR UPDATE`.execute(
    db(tx),
  );
}

/** The newest manifest of a device that is known; version 0: none yet. */
export interface LastManifest {
  /** The account that has claimed the device; null: not told yet. */
  readonly owner_id: string | null;
  readonly version: number;
  readonly changes_at: Date | null;
  readonly estate_read: boolean;
}

export const findLast = (tx: Sql, deviceId: string): Promise<LastManifest | undefined> =>
  db(tx)
    .selectFrom('known_devices as known')
    .leftJoin('device_manifests as manifest', 'manifest.device_id', 'known.id')
    .where('known.id', '=', deviceId)
    .select(['known.owner_id', 'manifest.changes_at', estateIsRead.as('estate_read')])
    .select(({ fn, val }) => fn.coalesce('manifest.version', val(0)).as('version'))
    .executeTakeFirst();

/** Notes which account has claimed a device that is known. */
export const setOwner = (tx: Sql, deviceId: string, ownerId: string): Promise<unknown> =>
  db(tx).updateTable('known_devices').set({ owner_id: ownerId }).where('id', '=', deviceId).execute();

export interface ManifestRow {
  readonly device_id: string;
  readonly version: number;
  readonly hash: string;
  readonly changes_at: Date | null;
}

/** Writes manifests that are locked. */
export async function writeManifests(tx: Sql, rows: readonly ManifestRow[]): Promise<void> {
  await sql`
    UPDATE device_manifests AS known SET version = row.version, hash = row.hash, changes_at = row.changes_at
    FROM jsonb_populate_recordset(NULL::device_manifests, ${JSON.stringify(rows)}::jsonb) AS row
    WHERE known.device_id = row.device_id`.execute(db(tx));
}

/** Devices whose manifest may have changed by time alone, those first that have waited longest. */
export async function findDue(tx: Sql, now: Date, most: number): Promise<string[]> {
  const due = db(tx).selectFrom('device_manifests').where('changes_at', '<=', now).orderBy('changes_at').limit(most);
  return (await due.select('device_id').execute()).map(({ device_id }) => device_id);
}
