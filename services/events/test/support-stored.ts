import { newId } from '@attribution/ids';
import { eventually, type RawPlay, type RawVisit, type TestService } from '@attribution/testing';

const tables = ['visit_facts', 'dwell_facts', 'exposure_facts', 'meeting_facts', 'play_hours'] as const;
type Facts = Readonly<Record<(typeof tables)[number], readonly object[]>>;

/** Waits until no hour of the account is behind, whatever the clocks say. */
export const caughtUp = (service: TestService, account: string): Promise<void> =>
  eventually(async () => {
    const { rows } = await service.db.query('SELECT 1 FROM dirty_hours WHERE account_id = $1 LIMIT 1', [account]);
    if (rows.length > 0) throw new Error('Figures are behind');
  });

/** All facts of an account that has caught up, without its own id. */
export async function factsOf(service: TestService, account: string): Promise<Facts> {
  await caughtUp(service, account);
  const rows = (table: keyof Facts) =>
    `(SELECT coalesce(jsonb_agg(to_jsonb(fact) - 'account_id' ORDER BY to_jsonb(fact)), '[]') FROM ${table} AS fact
      WHERE account_id = $1) AS ${table}`;
  return (await service.db.query<Facts>(`SELECT ${tables.map(rows).join(', ')}`, [account])).rows[0] as Facts;
}

const insertions = {
  visits: `
    INSERT INTO visits (account_id, event_id, device_id, location_id, visitor_key, entered_at, left_at, zones, received_at,
      clock_offset_ms)
    SELECT $1, event_id, $3, location_id, visitor_key, to_timestamp(start / 1000), to_timestamp("end" / 1000), zones,
      now(), 0
    FROM json_to_recordset($2) AS row(event_id uuid, location_id text, visitor_key text, start float8, "end" float8,
      zones jsonb)`,
  plays: `
    INSERT INTO plays (account_id, event_id, device_id, location_id, zone_id, screen_id, campaign_id, campaign_ad_id,
      version, started_at, ended_at, completed, holdout, received_at, clock_offset_ms)
    SELECT $1, coalesce(event_id, uuidv7()), $3, location_id, zone_id, screen_id, campaign_id, $4, version,
      to_timestamp(start / 1000), to_timestamp("end" / 1000), completed, holdout, now(), 0
    FROM json_to_recordset($2) AS row(event_id uuid, location_id text, zone_id text, screen_id text, campaign_id text,
      version int, start float8, "end" float8, completed boolean, holdout boolean)`,
} as const;

/**
 * Keeps items of any year, as if they had been accepted then: a device can only send those of the last 90 days. Returns when
 * they are in the figures.
 */
export async function keep(
  service: TestService,
  account: string,
  { visits, plays }: { readonly visits: readonly RawVisit[]; readonly plays: readonly RawPlay[] },
): Promise<void> {
  const device = newId('device');
  await service.db.query(insertions.visits, [account, JSON.stringify(visits), device]);
  await service.db.query(insertions.plays, [account, JSON.stringify(plays), device, newId('campaign_ad')]);
  await service.db.query(
    `INSERT INTO dirty_hours (account_id, location_id, hour, marked_at)
     SELECT DISTINCT $1, location_id, date_trunc('hour', to_timestamp(start / 1000), 'UTC'), now()
     FROM json_to_recordset($2) AS row(location_id text, start float8)`,
    [account, JSON.stringify([...visits, ...plays])],
  );
  await caughtUp(service, account);
}
