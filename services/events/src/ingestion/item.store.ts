import type { Sql } from '@attribution/database';
import type { Device, ItemRow, Judged } from './items.ts';
import type { PlayRow } from './plays.ts';

/** The ids that the account has already. */
export async function findEventIds(
  tx: Sql,
  table: 'visits' | 'plays',
  accountId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await tx.$queryRawUnsafe<{ event_id: string }[]>(
    `SELECT event_id FROM ${table} WHERE account_id = $1 AND event_id = ANY($2::uuid[])`,
    accountId,
    ids,
  );
  return new Set(rows.map(({ event_id }) => event_id));
}

/** When and how a batch came. */
export interface Receipt {
  readonly device: Device;
  readonly receivedAt: Date;
  readonly offset: number;
}

/** The columns of a table that its items fill in, with their types, and the names of the interval. */
const tables = {
  visits: {
    columns: { location_id: 'text', visitor_key: 'text', zones: 'jsonb' },
    interval: 'entered_at, left_at',
  },
  plays: {
    columns: {
      ...{ location_id: 'text', zone_id: 'text', screen_id: 'text', campaign_id: 'text', campaign_ad_id: 'text' },
      ...{ version: 'int', completed: 'boolean', holdout: 'boolean' },
    } satisfies Readonly<Partial<Record<keyof PlayRow, string>>>,
    interval: 'started_at, ended_at',
  },
} as const;

function insertion(table: keyof typeof tables): string {
  const { columns, interval } = tables[table];
  const names = Object.keys(columns).join(', ');
  const types = Object.entries(columns).map(([name, type]) => `${name} ${type}`);
  return `
    INSERT INTO ${table} (account_id, device_id, received_at, clock_offset_ms, event_id, ${names}, ${interval}, quarantined, item)
    SELECT $2, $3, $4::timestamptz, $5::bigint, event_id, ${names}, start, "end", quarantined::"QuarantineReason", item
    FROM json_to_recordset($1::json) AS row(event_id uuid, ${types.join(', ')}, start timestamptz, "end" timestamptz,
      quarantined text, item jsonb)
    ORDER BY event_id ON CONFLICT DO NOTHING RETURNING event_id`;
}

const insertions = { visits: insertion('visits'), plays: insertion('plays') };

/** Keeps the items whose ids the account does not have yet, and returns these ids. */
export async function insertItems(
  tx: Sql,
  table: 'visits' | 'plays',
  rows: readonly (ItemRow & Judged)[],
  { device, receivedAt, offset }: Receipt,
): Promise<Set<string>> {
  const values = [JSON.stringify(rows), device.accountId, device.id, receivedAt, offset];
  const kept = await tx.$queryRawUnsafe<{ event_id: string }[]>(insertions[table], ...values);
  return new Set(kept.map(({ event_id }) => event_id));
}
