import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { db } from '../store.ts';

/**
 * Turns campaigns that were published or archived into changes of the devices that played them before or play them now.
 * Returns the number of campaigns.
 */
export async function spreadChangedCampaigns(tx: Sql, most: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    WITH taken AS (
      DELETE FROM changed_campaigns WHERE sequence IN
        (SELECT sequence FROM changed_campaigns ORDER BY sequence LIMIT ${most} FOR UPDATE SKIP LOCKED)
      RETURNING campaign_id, at
    ), campaign AS (SELECT campaign_id, min(at) AS at FROM taken GROUP BY campaign_id),
    device AS (
      INSERT INTO changed_devices (device_id)
      SELECT DISTINCT installation.device_id FROM campaign
      JOIN placements AS placement ON placement.campaign_id = campaign.campaign_id
        AND (placement.valid_to IS NULL OR placement.valid_to >= campaign.at)
      JOIN known_installations AS installation ON installation.location_id = placement.location_id AND installation.live
        AND placement.screen_id = ANY(installation.screen_ids)
    )
    SELECT count(*)::int AS count FROM taken`.execute(db(tx));
  return rows[0]?.count ?? 0;
}

/** Takes the oldest changes of devices, up to `most`. They are deleted with the commit. */
export async function takeChangedDevices(tx: Sql, most: number): Promise<string[]> {
  const { rows } = await sql<{ device_id: string }>`
    WITH taken AS (
      DELETE FROM changed_devices WHERE sequence IN
        (SELECT sequence FROM changed_devices ORDER BY sequence LIMIT ${most} FOR UPDATE SKIP LOCKED)
      RETURNING device_id)
    SELECT DISTINCT device_id FROM taken`.execute(db(tx));
  return rows.map(({ device_id }) => device_id);
}
