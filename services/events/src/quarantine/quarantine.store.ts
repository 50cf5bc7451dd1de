import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import type { QuarantineReason } from '../clock/index.ts';
import { db } from '../store.ts';

export interface QuarantinedRow {
  readonly kind: 'visit' | 'play';
  readonly event_id: string;
  readonly device_id: string;
  readonly reason: QuarantineReason;
  readonly received_at: Date;
  readonly clock_offset_ms: number;
  readonly item: Record<string, unknown>;
}

interface Wanted {
  readonly deviceId: string | undefined;
  readonly since: Date;
  readonly before: readonly [receivedAt: number, eventId: string, kind: string] | undefined;
  readonly limit: number;
}

/** Items in quarantine that were received after `since`, newest first; visits and plays have ids apart. */
export async function findQuarantined(tx: Sql, accountId: string, wanted: Wanted): Promise<QuarantinedRow[]> {
  const { deviceId = null, since, before, limit } = wanted;
  const [receivedAt, eventId, lastKind] = before ?? [null, null, null];
  const itemsOf = (table: 'visits' | 'plays', kind: QuarantinedRow['kind']) => sql`
    (SELECT ${sql.lit(kind)} AS kind, event_id, device_id, quarantined AS reason, received_at,
       clock_offset_ms::float8 AS clock_offset_ms, item
     FROM ${sql.table(table)}
     WHERE account_id = ${accountId} AND quarantined IS NOT NULL AND received_at > ${since}::timestamptz
       AND (${deviceId}::text IS NULL OR device_id = ${deviceId}::text)
       AND (${receivedAt}::float8 IS NULL OR (received_at, event_id, ${sql.lit(kind)}) <
         (to_timestamp(${receivedAt}::float8 / 1000), ${eventId}::uuid, ${lastKind}::text))
     ORDER BY received_at DESC, event_id DESC LIMIT ${limit})`;
  const { rows } = await sql<QuarantinedRow>`
    ${itemsOf('visits', 'visit')} UNION ALL ${itemsOf('plays', 'play')}
    ORDER BY received_at DESC, event_id DESC, kind DESC LIMIT ${limit}`.execute(db(tx));
  return rows;
}
