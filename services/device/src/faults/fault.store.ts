import { anyOf, type Sql } from '@attribution/database';
import { type Selectable, sql } from 'kysely';
import type { DeviceFault } from '../generated/kysely/types.ts';
import { db } from '../store.ts';
import type { FaultItem } from './fault.ts';

export type FaultRow = Selectable<DeviceFault>;

/** Keeps the faults that the account does not have yet, and returns their ids. */
export async function insertFaults(
  tx: Sql,
  device: { readonly id: string; readonly account_id: string },
  items: readonly FaultItem[],
  now: Date,
): Promise<Set<string>> {
  if (items.length === 0) return new Set();
  const rows = items.map((item) => ({ ...item, occurred_at: new Date(item.occurred_at).toISOString() }));
  const kept = await tx.$queryRawUnsafe<{ event_id: string }[]>(
    `INSERT INTO device_faults
       (account_id, device_id, event_id, code, severity, component, detail, occurred_at, resolved, received_at)
     SELECT $2, $3, event_id, code, severity::"FaultSeverity", component, detail, occurred_at, resolved, $4::timestamptz
     FROM json_to_recordset($1::json) AS row(event_id uuid, code text, severity text, component text, detail text,
       occurred_at timestamptz, resolved boolean)
     ORDER BY event_id ON CONFLICT DO NOTHING RETURNING event_id`,
    JSON.stringify(rows),
    device.account_id,
    device.id,
    now,
  );
  return new Set(kept.map(({ event_id }) => event_id));
}

/** For each code and component that the faults have: the newest fault, and the one that was open. */
export async function findSubjects(tx: Sql, deviceId: string, codes: readonly string[]) {
  const all = db(tx)
    .selectFrom('device_faults')
    .selectAll()
    .where('device_id', '=', deviceId)
    .where('code', '=', anyOf(codes));
  const newest = await all
    .distinctOn(['code', 'component'])
    .orderBy('code')
    .orderBy('component')
    .orderBy('occurred_at', 'desc')
    .orderBy('event_id', 'desc')
    .execute();
  return { newest, open: await all.where('open', '=', true).execute() };
}

/** Opens and closes faults of a device, and counts those that are open. */
export async function setOpen(
  tx: Sql,
  deviceId: string,
  { opened, closed }: { readonly opened: readonly FaultRow[]; readonly closed: readonly FaultRow[] },
): Promise<void> {
  for (const [rows, open] of [
    [closed, false],
    [opened, true],
  ] as const) {
    if (rows.length === 0) continue;
    const ids = rows.map(({ event_id }) => event_id);
    await db(tx)
      .updateTable('device_faults')
      .set({ open })
      .where('device_id', '=', deviceId)
      .where('event_id', '=', sql<string>`any(${ids}::uuid[])`)
      .execute();
  }
  if (opened.length === closed.length) return;
  const difference = opened.length - closed.length;
  await db(tx)
    .updateTable('devices')
    .set((row) => ({ open_faults: row('open_faults', '+', difference) }))
    .where('id', '=', deviceId)
    .execute();
}

/** Newest first. */
export async function findFaults(
  tx: Sql,
  deviceId: string,
  page: {
    readonly before: readonly [occurredAt: number, eventId: string] | undefined;
    readonly open: boolean | undefined;
    readonly limit: number;
  },
): Promise<FaultRow[]> {
  let faults = db(tx).selectFrom('device_faults').selectAll().where('device_id', '=', deviceId);
  if (page.open !== undefined) faults = faults.where('open', '=', page.open);
  if (page.before) {
    const [occurredAt, eventId] = page.before;
    faults = faults.where(
      sql<boolean>`(occurred_at, event_id) < (${new Date(occurredAt)}::timestamptz, ${eventId}::uuid)`,
    );
  }
  return faults.orderBy('occurred_at', 'desc').orderBy('event_id', 'desc').limit(page.limit).execute();
}
