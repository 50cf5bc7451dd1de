import type { Sql } from '@attribution/database';
import type { DirtyHour } from './dirty-hours.ts';

/** Notes hours whose figures are behind since `at`, each once; null: they are not, but shall be recomputed when there is time. */
export async function markDirty(
  tx: Sql,
  accountId: string,
  hours: readonly DirtyHour[],
  at: Date | null,
): Promise<void> {
  if (hours.length === 0) return;
  const once = new Map(hours.map((one) => [`${one.location_id} ${one.hour}`, one])); // A batch names few hours hundreds of times.
  await tx.$executeRawUnsafe(
    `INSERT INTO dirty_hours (account_id, location_id, hour, marked_at)
     SELECT $2, location_id, to_timestamp(hour / 1000), $3::timestamptz
     FROM json_to_recordset($1::json) AS row(location_id text, hour bigint)`,
    JSON.stringify([...once.values()]),
    accountId,
    at,
  );
}
