import type { ChangeStatement } from '@attribution/messaging';
import { type DirtyHour, hoursJson, markingHours } from '../dirty/index.ts';
import type { EventsDatabase } from '../store.ts';
import type { Device, ItemRow, Judged } from './items.ts';
import type { PlayRow } from './plays.ts';
import type { VisitRow } from './visits.ts';

/** Those of the ids that the account has already. */
export async function findEventIds(
  connection: Pick<EventsDatabase['pool'], 'query'>,
  table: 'visits' | 'plays',
  accountId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const text = `
    SELECT id FROM unnest($2::uuid[]) AS id,
      LATERAL (SELECT FROM ${table} WHERE account_id = $1 AND event_id = id OFFSET 0) AS known`;
  const { rows } = await connection.query<{ id: string }>(text, [accountId, ids]);
  return new Set(rows.map(({ id }) => id));
}

/** When and how a batch came. */
export interface Receipt {
  readonly device: Device;
  readonly receivedAt: Date;
  readonly offset: number;
}

/**
 * What a table keeps of an item, with the types of its columns. `shared` has the same values for many items of a batch, and
 * is sent once for all of them: most of what an insertion costs is reading its values.
 */
const tables = {
  visits: {
    shared: { location_id: 'text' },
    own: { visitor_key: 'text', zones: 'jsonb' },
    interval: 'entered_at, left_at',
  } satisfies Columns<VisitRow>,
  plays: {
    shared: {
      ...{ location_id: 'text', zone_id: 'text', screen_id: 'text' },
      ...{ campaign_id: 'text', campaign_ad_id: 'text', version: 'int' },
    },
    own: { completed: 'boolean', holdout: 'boolean' },
    interval: 'started_at, ended_at',
  } satisfies Columns<PlayRow>,
};
interface Columns<Row> {
  readonly shared: Readonly<Partial<Record<keyof Row, string>>>;
  readonly own: Readonly<Partial<Record<keyof Row, string>>>;
  readonly interval: string;
}

const typed = (columns: Readonly<Record<string, string>>) =>
  Object.entries(columns).map(([name, type]) => `${name} ${type}`);

function keeping(table: keyof typeof tables): string {
  const { shared, own, interval } = tables[table];
  const names = [...Object.keys(shared), ...Object.keys(own)].join(', ');
  return `
    kept AS (
      INSERT INTO ${table} (account_id, device_id, received_at, clock_offset_ms, event_id, ${names}, ${interval}, quarantined, item)
      SELECT $3, $4, $5::timestamptz, $6::bigint, event_id, ${names}, to_timestamp(start / 1000), to_timestamp("end" / 1000),
        quarantined::"QuarantineReason", item
      FROM json_to_recordset($1::json) AS own (n int, event_id uuid, ${typed(own).join(', ')}, start float8, "end" float8,
        quarantined text, item jsonb)
      JOIN json_to_recordset($2::json) AS shared (n int, ${typed(shared).join(', ')}) USING (n)
      ORDER BY event_id
    ), marked AS (${markingHours('$7', '$3', '$5', false)}
    ), changed AS (SELECT $3::text AS id)`;
}

const statements = { visits: keeping('visits'), plays: keeping('plays') };

/** The rows with what they alone have, and what they share: each once, with the number that stands in the rows for it. */
function splitShared(table: keyof typeof tables, rows: readonly (ItemRow & Judged)[]) {
  const columns = Object.keys(tables[table].shared);
  const ownColumns = ['event_id', ...Object.keys(tables[table].own), 'start', 'end', 'quarantined', 'item'];
  const shared = new Map<string, number>();
  const values: object[] = [];
  const own = rows.map((one) => {
    const row: Readonly<Record<string, unknown>> = { ...one };
    const key = columns.map((column) => row[column]).join(' ');
    let n = shared.get(key);
    if (n === undefined) {
      n = shared.size;
      shared.set(key, n);
      values.push({ n, ...Object.fromEntries(columns.map((column) => [column, row[column]])) });
    }
    const rest: Record<string, unknown> = { n };
    for (const column of ownColumns) if (row[column] !== null) rest[column] = row[column];
    return rest;
  });
  return { shared: values, own };
}

/**
 * Keeps items, none of which the account has yet, and marks hours, as a change of the account that events are appended with.
 * It fails as a whole if another batch has brought one of them meanwhile. Rows are inserted in one order, so that two batches
 * with the same items cannot deadlock.
 */
export function keepingItems(
  table: keyof typeof tables,
  rows: readonly (ItemRow & Judged)[],
  hours: readonly DirtyHour[],
  { device, receivedAt, offset }: Receipt,
): ChangeStatement {
  const { shared, own } = splitShared(table, rows);
  const items = [JSON.stringify(own), JSON.stringify(shared)];
  return {
    text: statements[table],
    values: [...items, device.accountId, device.id, receivedAt, offset, hoursJson(hours)],
  };
}
