import type { Sql } from '@attribution/database';
import type { DirtyHour } from './dirty-hours.ts';

/**
 * Marks hours, for a statement that has these parameters: the hours as JSON, the account, and since when they are behind.
 * `whole`: their whole days are to be recomputed.
 */
export const markingHours = (hours: string, accountId: string, at: string, whole: boolean): string => `
  INSERT INTO dirty_hours (account_id, location_id, hour, marked_at, whole)
  SELECT ${accountId}, location_id, to_timestamp(hour / 1000), ${at}::timestamptz, ${whole}
  FROM json_to_recordset(${hours}::json) AS row(location_id text, hour bigint)`;

/** Hours as JSON, each once: a batch names few hours hundreds of times. */
export const hoursJson = (hours: readonly DirtyHour[]): string =>
  JSON.stringify([...new Map(hours.map((one) => [`${one.location_id} ${one.hour}`, one])).values()]);

const marking = markingHours('$1', '$2', '$3', true);

/** Notes days, by one of their hours, whose figures are behind since `at`; null: they are not, but shall be recomputed when there is time. */
export async function markDirty(
  tx: Sql,
  accountId: string,
  hours: readonly DirtyHour[],
  at: Date | null,
): Promise<void> {
  if (hours.length > 0) await tx.$executeRawUnsafe(marking, hoursJson(hours), accountId, at);
}
