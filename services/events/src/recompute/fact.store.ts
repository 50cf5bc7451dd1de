import type { Sql } from '@attribution/database';
import type { Facts } from './day.ts';

/** A local day of a location. */
export interface LocationDay {
  readonly account_id: string;
  readonly location_id: string;
  readonly date: string;
}

/** Replaces the facts of a day. */
export async function replaceFacts(tx: Sql, day: LocationDay, facts: Facts): Promise<void> {
  for (const [table, rows] of Object.entries(facts)) {
    const own = [day.account_id, day.location_id, day.date];
    await tx.$executeRawUnsafe(
      `DELETE FROM ${table} WHERE account_id = $1 AND location_id = $2 AND date = $3::date`,
      ...own,
    );
    const [first] = rows;
    if (!first) continue;
    const columns = Object.keys(first).join(', ');
    await tx.$executeRawUnsafe(
      `INSERT INTO ${table} (account_id, location_id, date, ${columns})
       SELECT $1, $2, $3::date, ${columns} FROM json_populate_recordset(NULL::${table}, $4::json)`,
      ...own,
      JSON.stringify(rows),
    );
  }
}
