import type { DeviceManifest } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { sql as statement } from 'kysely';
import { db } from '../store.ts';

/** The manifest that was given to a device last. */
export async function findKept(sql: Sql, deviceId: string): Promise<DeviceManifest | undefined> {
  const kept = db(sql).selectFrom('device_manifests').select('document').where('device_id', '=', deviceId);
  return (await kept.executeTakeFirst())?.document as DeviceManifest | undefined;
}

/** Versions only grow: a manifest that is kept for when Campaign is away may be older than the current one. */
const newest = (version: number) => statement<number>`greatest(manifest_version, ${version}::float8)`;

/** Keeps a manifest that is given to a device, unless a newer one was given meanwhile, and notes its version as delivered. */
export async function keepManifest(sql: Sql, manifest: DeviceManifest): Promise<void> {
  const { device_id, version } = manifest;
  const document = JSON.stringify(manifest);
  await db(sql)
    .insertInto('device_manifests')
    .values({ device_id, version, document })
    .onConflict((known) =>
      known.column('device_id').doUpdateSet({ version, document }).where('device_manifests.version', '<=', version),
    )
    .execute();
  await db(sql)
    .updateTable('devices')
    .set({ manifest_version: newest(version), manifest_delivered: version })
    .where('id', '=', device_id)
    .execute();
}

/** Notes the version that a device's manifest now has. A version that is known already, or older, changes nothing. */
export async function setCurrent(
  sql: Sql,
  { device_id, account_id }: { readonly device_id: string; readonly account_id: string },
  version: number,
): Promise<void> {
  await db(sql)
    .updateTable('devices')
    .set({ manifest_version: version })
    .where('id', '=', device_id)
    .where('account_id', '=', account_id)
    .where((row) => row.or([row('manifest_version', 'is', null), row('manifest_version', '<', version)]))
    .execute();
}
