import { type Principal, visibleGroupIds } from '@attribution/auth';
import type { DeviceStatus, RevocationReason } from '@attribution/contracts';
import { anyOf, type Sql } from '@attribution/database';
import { type Selectable, sql } from 'kysely';
import type { Device } from '../generated/kysely/types.ts';
import { db } from '../store.ts';

export type DeviceRow = Selectable<Device>;

/** Locks the device, whoever it belongs to. Everything that is decided about a device is decided under this lock. */
export async function lockDevice(tx: Sql, id: string): Promise<DeviceRow | undefined> {
  return db(tx).selectFrom('devices').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

const listed = [
  'd.id',
  'd.serial',
  'd.name',
  'd.model',
  'd.hardware_revision',
  'd.firmware_version',
  'd.status',
  'd.desired_version',
  'd.reported_version',
  'd.applied_version',
  'd.heartbeat_interval',
  'd.manifest_version',
  'd.manifest_delivered',
  'd.manifest_applied',
  'd.open_faults',
  'd.claimed_at',
  'd.activated_at',
  'd.suspended_at',
  'd.retired_at',
  'd.created_at',
  'd.updated_at',
] as const;

/** The devices that the caller can see, with where they are and the newest certificate that they used. */
function devicesOf(tx: Sql, caller: Principal) {
  const groups = visibleGroupIds(caller);
  const inAccount = db(tx)
    .selectFrom('devices as d')
    .leftJoin('device_presence as p', 'p.device_id', 'd.id')
    .leftJoinLateral(
      (device) =>
        device
          .selectFrom('known_installations as i')
          .leftJoin('known_locations as l', 'l.id', 'i.location_id')
          .whereRef('i.device_id', '=', 'd.id')
          .whereRef('i.account_id', '=', 'd.account_id')
          .where('i.live', '=', true)
          .select(['i.id as installation_id', 'i.location_id', 'l.group_id'])
          .orderBy('i.id', 'desc')
          .limit(1)
          .as('place'),
      (join) => join.onTrue(),
    )
    .leftJoinLateral(
      (device) =>
        device
          .selectFrom('device_certificates as c')
          .whereRef('c.device_id', '=', 'd.id')
          .where('c.used_at', 'is not', null)
          .select(['c.fingerprint', 'c.serial', 'c.not_before', 'c.not_after', 'c.revoked_at', 'c.revocation_reason'])
          .orderBy('c.number', 'desc')
          .limit(1)
          .as('used'),
      (join) => join.onTrue(),
    )
    .where('d.account_id', '=', caller.accountId);
  return groups ? inAccount.where('place.group_id', '=', anyOf(groups)) : inAccount;
}

/** The columns beside the device's own. */
const joined = [
  'p.last_seen_at',
  'place.installation_id',
  'place.location_id',
  'used.fingerprint',
  'used.serial as certificate_serial',
  'used.not_before',
  'used.not_after',
  'used.revoked_at',
  'used.revocation_reason',
] as const;

/** A device as its owner sees it. */
export type SeenDevice = Omit<
  DeviceRow,
  | 'public_key'
  | 'key_id'
  | 'resumes_as'
  | 'account_id'
  | 'desired'
  | 'reported'
  | 'reported_at'
  | 'report_applied'
  | 'report_desired'
  | 'inventory'
  | 'certificates_issued'
> & {
  readonly last_seen_at: Date | null;
  readonly installation_id: string | null;
  readonly location_id: string | null;
  readonly fingerprint: string | null;
  readonly certificate_serial: string | null;
  readonly not_before: Date | null;
  readonly not_after: Date | null;
  readonly revoked_at: Date | null;
  readonly revocation_reason: RevocationReason | null;
};

export async function findDevice(tx: Sql, caller: Principal, id: string): Promise<SeenDevice | undefined> {
  return devicesOf(tx, caller)
    .where('d.id', '=', id)
    .select([...listed, ...joined])
    .executeTakeFirst();
}

export type DetailedDevice = SeenDevice & Pick<DeviceRow, 'desired' | 'reported' | 'reported_at' | 'inventory'>;

export async function findDetailed(tx: Sql, caller: Principal, id: string): Promise<DetailedDevice | undefined> {
  return devicesOf(tx, caller)
    .where('d.id', '=', id)
    .select([...listed, ...joined])
    .select(['d.desired', 'd.reported', 'd.reported_at', 'd.inventory'])
    .executeTakeFirst();
}

export interface DeviceFilter {
  readonly after: readonly [createdAt: number, id: string] | undefined;
  readonly limit: number;
  readonly groupIds: readonly string[] | undefined;
  readonly locationIds: readonly string[] | undefined;
  readonly statuses: readonly DeviceStatus[] | undefined;
  readonly online: boolean | undefined;
  /** Part of the name or serial. */
  readonly text: string | undefined;
  readonly now: Date;
}

/** When `online` is true (device contract: active, and heard within three intervals), in SQL. */
const isOnline = (now: Date) => sql<boolean>`coalesce(d.status = 'active'
  AND p.last_seen_at > ${now}::timestamptz - make_interval(secs => 3 * d.heartbeat_interval), false)`;

/** Oldest first. */
export async function findDevices(tx: Sql, caller: Principal, filter: DeviceFilter): Promise<SeenDevice[]> {
  let devices = devicesOf(tx, caller);
  const { after, groupIds, locationIds, statuses, online, text, now } = filter;
  if (after) {
    const [createdAt, id] = after;
    devices = devices.where(sql<boolean>`(d.created_at, d.id) > (${new Date(createdAt)}::timestamptz, ${id}::text)`);
  }
  if (groupIds) devices = devices.where('place.group_id', '=', anyOf(groupIds));
  if (locationIds) devices = devices.where('place.location_id', '=', anyOf(locationIds));
  if (statuses) devices = devices.where('d.status', '=', sql<DeviceStatus>`any(${statuses}::"DeviceStatus"[])`);
  if (online !== undefined) devices = devices.where(isOnline(now), '=', online);
  if (text !== undefined)
    devices = devices.where(
      sql<boolean>`(strpos(lower(d.name), lower(${text})) > 0 OR strpos(lower(d.serial), lower(${text})) > 0)`,
    );
  return devices
    .select([...listed, ...joined])
    .orderBy('d.created_at')
    .orderBy('d.id')
    .limit(filter.limit)
    .execute();
}

/** Devices of all accounts, and of none, by id. */
export async function listForOperator(tx: Sql, page: { readonly after: string | undefined; readonly limit: number }) {
  let devices = db(tx).selectFrom('devices').select(['id', 'serial', 'status', 'account_id', 'created_at']);
  if (page.after !== undefined) devices = devices.where('id', '>', page.after);
  return devices.orderBy('id').limit(page.limit).execute();
}

const change = (tx: Sql, id: string, now: Date) =>
  db(tx).updateTable('devices').set({ updated_at: now }).where('id', '=', id);

export async function renameDevice(tx: Sql, id: string, name: string, now: Date): Promise<void> {
  await change(tx, id, now).set({ name }).execute();
}

/** A manufactured device gets its account. */
export async function assignDevice(
  tx: Sql,
  id: string,
  { accountId, name, now }: { readonly accountId: string; readonly name: string; readonly now: Date },
): Promise<void> {
  await change(tx, id, now).set({ status: 'claimed', account_id: accountId, name, claimed_at: now }).execute();
}

export async function suspend(tx: Sql, { id, status }: DeviceRow, now: Date): Promise<void> {
  await change(tx, id, now).set({ status: 'suspended', resumes_as: status, suspended_at: now }).execute();
}

export async function resume(tx: Sql, id: string, status: DeviceStatus, now: Date): Promise<void> {
  await change(tx, id, now).set({ status, resumes_as: null, suspended_at: null }).execute();
}

export async function retire(tx: Sql, id: string, now: Date): Promise<void> {
  await change(tx, id, now).set({ status: 'retired', resumes_as: null, retired_at: now }).execute();
}
