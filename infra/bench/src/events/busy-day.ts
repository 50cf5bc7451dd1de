import { newId } from '@attribution/ids';
import type { BenchDatabase } from '../database.ts';
import type { Seeded } from './seed.ts';

/** What a busy day of a location has: plays of two screens all around the clock, and stays in their two zones. */
export interface Busy {
  readonly plays: number;
  readonly dwells: number;
}

export const day = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10);
const campaigns = 5;

/** Gives each location the raw items of the day: its clock is UTC. */
export async function seedDay(database: BenchDatabase, { account, locations }: Seeded, { plays, dwells }: Busy) {
  const places = locations.map((location) => ({ location, left: newId('zone'), right: newId('zone') }));
  const played = Array.from({ length: campaigns }, () => newId('campaign'));
  const table = 'jsonb_to_recordset($2) AS place(location text, "left" text, "right" text)';
  const values = [account, JSON.stringify(places)];
  await database.sql(
    `INSERT INTO plays (account_id, event_id, device_id, location_id, zone_id, screen_id, campaign_id, campaign_ad_id, version,
       started_at, ended_at, completed, holdout, received_at, clock_offset_ms)
     SELECT $1, uuidv7(), 'dev_' || zone, location, zone, 'scr_' || zone, campaign, 'cad_' || campaign, 1,
       start, start + length, true, n % 10 = 0, now(), 0
     FROM ${table}, unnest(ARRAY["left", "right"]) AS zone, generate_series(0, ${plays / 2 - 1}) AS n,
       LATERAL (SELECT ($3::text[])[1 + n % ${campaigns}] AS campaign, interval '1 day' / ${plays / 2} AS length) AS chosen,
       LATERAL (SELECT '${day}'::timestamp AT TIME ZONE 'UTC' + n * length AS start) AS times`,
    [...values, played],
  );
  await database.sql(
    `INSERT INTO visits (account_id, event_id, device_id, location_id, visitor_key, entered_at, left_at, zones, received_at,
       clock_offset_ms)
     SELECT $1, uuidv7(), 'dev_1', location, left(md5(location || n), 22), start, start + interval '10 min',
       jsonb_build_array(
         jsonb_build_object('zone_id', "left", 'start', ms, 'end', ms + 300000),
         jsonb_build_object('zone_id', "right", 'start', ms + 300000, 'end', ms + 600000)),
       now(), 0
     FROM ${table}, generate_series(0, ${dwells / 2 - 1}) AS n,
       LATERAL (SELECT '${day}'::timestamp AT TIME ZONE 'UTC' + n * (interval '23 h' / ${dwells / 2}) AS start) AS times,
       LATERAL (SELECT floor(extract(epoch FROM start) * 1000)::bigint AS ms) AS instants`,
    values,
  );
  await database.sql('VACUUM ANALYZE');
}

const facts = ['visit_facts', 'dwell_facts', 'exposure_facts', 'meeting_facts', 'play_hours'] as const;

export const bareTables = facts.map((table) => `CREATE TABLE bare_${table} (LIKE ${table} INCLUDING ALL)`).join(';');

/** What a day is emptied by; $1 account, $2 location, $3 date. */
export const bareDeletes = facts.map(
  (table) => `DELETE FROM bare_${table} WHERE account_id = $1 AND location_id = $2 AND date = $3::date`,
);

/** The plays of the day apart and with an index, without which Postgres compares all with all; $1 account, $2 location, $3 date. */
export const barePlays = `
  CREATE TEMP TABLE day_plays ON COMMIT DROP AS
  SELECT zone_id, campaign_id, holdout, started_at, ended_at FROM plays, LATERAL (SELECT $3::timestamp AT TIME ZONE 'UTC' AS start) AS day
  WHERE account_id = $1 AND location_id = $2
    AND started_at >= start - interval '1 h' AND started_at < start + interval '1 day'`;
export const bareIndex = 'CREATE INDEX ON day_plays (zone_id, started_at); ANALYZE day_plays';

/**
 * The facts of a day, in UTC; $1 account, $2 location, $3 date, $4 the length of the longest play in seconds. Where a play is
 * met twice by a visit is not looked at: none is here.
 */
export const bareFacts = `
  WITH day AS (
    SELECT $3::timestamp AT TIME ZONE 'UTC' AS "from", ($3::timestamp + interval '1 day') AT TIME ZONE 'UTC' AS "to"
  ), visit AS MATERIALIZED (
    SELECT event_id, visitor_key, entered_at, left_at, zones FROM visits, day
    WHERE account_id = $1 AND location_id = $2 AND entered_at >= "from" AND entered_at < "to"
  ), stay AS MATERIALIZED (
    SELECT event_id, visitor_key, left_at, zone_id, to_timestamp(start / 1000) AS start, to_timestamp("end" / 1000) AS "end"
    FROM visit, jsonb_to_recordset(zones) AS zone(zone_id text, start float8, "end" float8)
  ), met AS MATERIALIZED (
    SELECT stay.event_id, visitor_key, left_at, campaign_id, holdout,
      greatest(start, started_at) AS since, least("end", ended_at) AS until
    FROM stay, LATERAL (
      SELECT * FROM day_plays AS play WHERE play.zone_id = stay.zone_id
        AND started_at > start - $4 * interval '1 s' AND started_at < "end" AND ended_at > start OFFSET 0
    ) AS play
  ), visits_in AS (
    INSERT INTO bare_visit_facts (account_id, location_id, date, event_id, hour, visitor_key, entered_at, left_at, dwell_ms)
    SELECT $1, $2, $3::date, event_id, extract(hour FROM entered_at AT TIME ZONE 'UTC'), visitor_key, entered_at, left_at,
      extract(epoch FROM left_at - entered_at) * 1000
    FROM visit
  ), dwells_in AS (
    INSERT INTO bare_dwell_facts (account_id, location_id, date, event_id, zone_id, entered_at, visitor_key, dwell_ms)
    SELECT $1, $2, $3::date, event_id, zone_id, start, visitor_key, extract(epoch FROM "end" - start) * 1000 FROM stay
  ), exposures_in AS (
    INSERT INTO bare_exposure_facts (account_id, location_id, date, event_id, campaign_id, visitor_key, first_at, left_at,
      first_date, first_hour, exposure_ms)
    SELECT $1, $2, $3::date, event_id, campaign_id, visitor_key, min(since), left_at,
      (min(since) AT TIME ZONE 'UTC')::date, extract(hour FROM min(since) AT TIME ZONE 'UTC'),
      (SELECT extract(epoch FROM sum(upper(part) - lower(part))) * 1000
       FROM unnest(range_agg(tstzrange(since, until))) AS part)
    FROM met WHERE NOT holdout GROUP BY event_id, campaign_id, visitor_key, left_at
  ), meetings_in AS (
    INSERT INTO bare_meeting_facts (account_id, location_id, date, event_id, campaign_id, held, met_date, met_hour, visitor_key,
      first_at, left_at, pairs)
    SELECT $1, $2, $3::date, event_id, campaign_id, holdout, (hour AT TIME ZONE 'UTC')::date,
      extract(hour FROM hour AT TIME ZONE 'UTC'), visitor_key, min(since), left_at, count(*)
    FROM met, LATERAL (SELECT date_trunc('hour', since, 'UTC') AS hour) AS local
    GROUP BY event_id, campaign_id, holdout, hour, visitor_key, left_at
  )
  INSERT INTO bare_play_hours (account_id, location_id, date, hour, campaign_id, screen_id, plays, completed_plays, play_ms,
    held_plays, version)
  SELECT $1, $2, $3::date, extract(hour FROM started_at AT TIME ZONE 'UTC'), campaign_id, screen_id,
    count(*) FILTER (WHERE NOT holdout), count(*) FILTER (WHERE NOT holdout AND completed),
    coalesce(extract(epoch FROM sum(ended_at - started_at) FILTER (WHERE NOT holdout)) * 1000, 0),
    count(*) FILTER (WHERE holdout), max(version)
  FROM plays, day WHERE account_id = $1 AND location_id = $2 AND started_at >= "from" AND started_at < "to"
  GROUP BY 4, campaign_id, screen_id`;

/** Whether both have made the same of the raw items: the sums of all figures, which are compared as text. */
export const checksum = (prefix: '' | 'bare_') => `
  SELECT (SELECT count(*) || ' ' || sum(dwell_ms) FROM ${prefix}visit_facts) || ', ' ||
    (SELECT count(*) || ' ' || sum(dwell_ms) FROM ${prefix}dwell_facts) || ', ' ||
    (SELECT count(*) || ' ' || sum(exposure_ms) || ' ' || sum(first_hour) FROM ${prefix}exposure_facts) || ', ' ||
    (SELECT count(*) || ' ' || sum(pairs) || ' ' || sum(met_hour) FROM ${prefix}meeting_facts) || ', ' ||
    (SELECT count(*) || ' ' || sum(plays) || ' ' || sum(play_ms) || ' ' || sum(held_plays) FROM ${prefix}play_hours) AS sums`;
