import { anyOf, type Sql } from '@attribution/database';
import { newId } from '@attribution/ids';
import { sql } from 'kysely';
import { hashOfCode } from '../claims/index.ts';
import { db } from '../store.ts';
import type { Known } from './decide.ts';
import type { ListedDevice } from './item.ts';

/** Imports follow each other: two lists may have a device in common. Until the commit. */
export async function lockImports(tx: Sql): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('device imports', 7))`.execute(db(tx));
}

export async function findKnown(tx: Sql, items: readonly ListedDevice[]): Promise<Known> {
  const serials = items.map(({ serial }) => serial);
  const keyIds = items.map(({ keyId }) => keyId);
  const hashes = items.flatMap(({ claimCode }) => (claimCode === null ? [] : hashOfCode(claimCode)));
  const devices = await db(tx)
    .selectFrom('devices')
    .select(['serial', 'key_id', 'status'])
    .where((device) => device.or([device('serial', '=', anyOf(serials)), device('key_id', '=', anyOf(keyIds))]))
    .execute();
  const codes = await db(tx)
    .selectFrom('claim_codes')
    .select('code_hash')
    .where('code_hash', '=', anyOf(hashes))
    .where('ended_at', 'is', null)
    .execute();
  const present = devices.filter(({ status }) => status !== 'retired');
  const byKey = Map.groupBy(devices, ({ key_id }) => key_id);
  return {
    keyOf: new Map(present.map(({ serial, key_id }) => [serial, key_id])),
    serialsOf: new Map([...byKey].map(([key, some]) => [key, some.map(({ serial }) => serial)])),
    codes: new Set(codes.map(({ code_hash }) => code_hash)),
  };
}

export async function insertDevices(tx: Sql, items: readonly ListedDevice[], now: Date): Promise<void> {
  if (items.length === 0) return;
  const rows = items.map((item) => ({ ...item, id: newId('device') }));
  // One statement whatever the number of rows, which go as one text.
  await tx.$executeRawUnsafe(
    `INSERT INTO devices (id, serial, public_key, key_id, model, hardware_revision, name, created_at, updated_at)
     SELECT id, serial, "publicKey", "keyId", model, "hardwareRevision", serial, $2::timestamptz, $2::timestamptz
     FROM json_to_recordset($1::json) AS row(
       id text, serial text, "publicKey" text, "keyId" text, model text, "hardwareRevision" text)`,
    JSON.stringify(rows),
    now,
  );
  const codes = rows.flatMap(({ id, claimCode }) => (claimCode === null ? [] : { id, hash: hashOfCode(claimCode) }));
  await tx.$executeRawUnsafe(
    `INSERT INTO claim_codes (device_id, kind, code_hash)
     SELECT id, 'label', hash FROM json_to_recordset($1::json) AS row(id text, hash text)`,
    JSON.stringify(codes),
  );
}
