import type { Sql } from '@attribution/database';
import type { Facts } from './day.ts';
import type { Place } from './raw.store.ts';

const ofVisits = ['visit_facts', 'dwell_facts', 'exposure_facts', 'meeting_facts'] as const;

async function insertFacts(tx: Sql, { account_id, location_id }: Place, facts: Facts): Promise<void> {
  for (const [table, rows] of Object.entries(facts)) {
    const [first] = rows;
    if (!first) continue;
    const columns = Object.keys(first).join(', ');
    await tx.$executeRawUnsafe(
      `INSERT INTO ${table} (account_id, location_id, ${columns})
       SELECT $1, $2, ${columns} FROM json_populate_recordset(NULL::${table}, $3::json)`,
      account_id,
      location_id,
      JSON.stringify(rows),
    );
  }
}

/** Replaces all facts of a local day. */
export async function replaceDay(
  tx: Sql,
  { date, ...place }: Place & { readonly date: string },
  facts: Facts,
): Promise<void> {
  for (const table of [...ofVisits, 'play_hours'])
    await tx.$executeRawUnsafe(
      `DELETE FROM ${table} WHERE account_id = $1 AND location_id = $2 AND date = $3::date`,
      place.account_id,
      place.location_id,
      date,
    );
  await insertFacts(tx, place, facts);
}

/** What a part of the facts is of: visits, with the local days on which they began, and local hours of plays. */
interface Part {
  readonly visits: readonly { readonly id: string; readonly date: string }[];
  readonly hours: readonly { readonly date: string; readonly hour: number }[];
}

/** Replaces the facts of some visits and hours. */
export async function replacePart(tx: Sql, place: Place, { visits, hours }: Part, facts: Facts): Promise<void> {
  if (visits.length > 0)
    for (const table of ofVisits)
      await tx.$executeRawUnsafe(
        `DELETE FROM ${table} WHERE account_id = $1 AND location_id = $2 AND date = ANY($3::date[]) AND event_id = ANY($4::uuid[])`,
        place.account_id,
        place.location_id,
        [...new Set(visits.map(({ date }) => date))],
        visits.map(({ id }) => id),
      );
  await tx.$executeRawUnsafe(
    `DELETE FROM play_hours WHERE account_id = $1 AND location_id = $2
       AND (date, hour) IN (SELECT * FROM unnest($3::date[], $4::int[]))`,
    place.account_id,
    place.location_id,
    hours.map(({ date }) => date),
    hours.map(({ hour }) => hour),
  );
  await insertFacts(tx, place, facts);
}
