import { newId } from '@attribution/ids';
import type { BenchDatabase } from '../database.ts';

/** An account with locations in one time zone, and a campaign with a holdout. */
export interface Seeded {
  readonly account: string;
  readonly campaign: string;
  readonly locations: readonly string[];
}

export async function seedAccount(database: BenchDatabase, count: number): Promise<Seeded> {
  const [account, campaign] = [newId('account'), newId('campaign')];
  const locations = Array.from({ length: count }, () => newId('location'));
  await database.sql(
    `INSERT INTO known_locations (account_id, id, group_id, timezone, aggregate_version)
     SELECT $1, id, $3, 'UTC', 1 FROM unnest($2::text[]) AS id`,
    [account, locations, newId('group')],
  );
  await database.sql(
    `INSERT INTO known_versions (account_id, campaign_id, version, holdout_percent, published_at) VALUES ($1, $2, 1, 10, now())`,
    [account, campaign],
  );
  return { account, campaign, locations };
}

/** Days that figures are asked of: the last of them was long ago, so that no window is open. */
export const range = { days: 90, from: '2026-06-01', to: '2026-08-29' };
const hoursOpen = 12;
const opens = 8;

/** The key of visitor number `n`, as devices make them. */
const visitorKey = (n: string) =>
  `translate(rtrim(encode(decode(md5((${n})::text), 'hex'), 'base64'), '='), '+/', '-_')`;

/** Whether the campaign is left out of the hour of a location that a local time is in. */
const held = (location: string, time: string) => `hashtext(${location} || date_trunc('hour', ${time})) % 10 = 0`;

/** So many times of visits, spread over all locations and the open hours of the range. Times are local, which is UTC. */
const drawnVisits = (count: number) => `
  SELECT *, local::date AS date, extract(hour FROM local)::int AS hour, local AT TIME ZONE 'UTC' AS at,
    ${held('location', 'local')} AS held, ${visitorKey('n')} AS visitor, uuidv7() AS event
  FROM (
    SELECT n, ($2::text[])[1 + n % cardinality($2::text[])] AS location,
      '${range.from}'::timestamp + (n / cardinality($2::text[])) % ${range.days} * interval '1 day'
        + interval '${opens} h' + (hashint4(n)::bigint + 2147483648) % (${hoursOpen} * 3600) * interval '1 s' AS local
    FROM generate_series(0, ${count - 1}) AS n
  ) AS drawn`;

/**
 * Facts of so many visitors: each came once for ten minutes, met the campaign or was held back by the hour, and every tenth
 * came again three days later.
 */
export async function seedVisitors(
  database: BenchDatabase,
  { account, campaign, locations }: Seeded,
  visitors: number,
) {
  await database.sql(
    `WITH came AS MATERIALIZED (${drawnVisits(visitors)}), visits AS (
       INSERT INTO visit_facts (account_id, location_id, date, event_id, hour, visitor_key, entered_at, left_at, dwell_ms)
       SELECT $1, location, date, event, hour, visitor, at, at + interval '10 min', 600000 FROM came
       UNION ALL
       SELECT $1, location, date + 3, uuidv7(), hour, visitor, at + interval '3 d', at + interval '3 d 10 min', 600000
       FROM came WHERE n % 10 = 0
     ), exposures AS (
       INSERT INTO exposure_facts (account_id, location_id, date, event_id, campaign_id, visitor_key, first_at, left_at,
         first_date, first_hour, exposure_ms)
       SELECT $1, location, date, event, $3, visitor, at, at + interval '10 min', date, hour, 60000
       FROM came WHERE NOT held
     )
     INSERT INTO meeting_facts (account_id, location_id, date, event_id, campaign_id, held, met_date, met_hour, visitor_key,
       first_at, left_at, pairs)
     SELECT $1, location, date, event, $3, held, date, hour, visitor, at, at + interval '10 min', 6 FROM came`,
    [account, locations, campaign],
  );
}

/** Hours of two screens in each location, with so many plays each, and their plays. */
export async function seedPlayHours(database: BenchDatabase, { account, campaign, locations }: Seeded, plays: number) {
  const screens = locations.flatMap((location) => [newId('screen'), newId('screen')].map((id) => ({ location, id })));
  await database.sql(
    `INSERT INTO play_hours (account_id, location_id, date, hour, campaign_id, screen_id, plays, completed_plays, play_ms,
       held_plays, version)
     SELECT $1, location, date::date, hour, $2, id, CASE WHEN held THEN 0 ELSE $4::int END, CASE WHEN held THEN 0 ELSE $4::int END,
       CASE WHEN held THEN 0 ELSE 3600000 END, CASE WHEN held THEN $4::int ELSE 0 END, 1
     FROM jsonb_to_recordset($3) AS screen(location text, id text),
       generate_series('${range.from}'::timestamp, '${range.to}', '1 day') AS date,
       generate_series(${opens}, ${opens + hoursOpen - 1}) AS hour,
       LATERAL (SELECT ${held('location', "date + hour * interval '1 h'")} AS held) AS judged`,
    [account, campaign, JSON.stringify(screens), plays],
  );
}

/** The raw plays of the hours of `seedPlayHours`, one after the other. */
export const seedPlays = (database: BenchDatabase, { account }: Seeded) =>
  database.sql(
    `INSERT INTO plays (account_id, event_id, device_id, location_id, screen_id, campaign_id, campaign_ad_id, version,
       started_at, ended_at, completed, holdout, received_at, clock_offset_ms)
     SELECT account_id, uuidv7(), 'dev_' || screen_id, location_id, screen_id, campaign_id, 'cad_' || campaign_id, version,
       began, began + length, true, plays = 0, began, 0
     FROM play_hours,
       LATERAL (SELECT interval '1 h' / (plays + held_plays) AS length, date::timestamp AT TIME ZONE 'UTC' + hour * interval '1 h' AS start) AS hours,
       generate_series(0, plays + held_plays - 1) AS n,
       LATERAL (SELECT start + n * length AS began) AS times
     WHERE account_id = $1`,
    [account],
  );
