import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { db } from '../store.ts';
import type { Facts, PlayingAd, PlayingCampaign, WiredScreen } from './facts.ts';

/** What is known of a device that some installation has named. */
export interface DeviceFacts {
  /** Of its live installation; without one, of the last that named it. */
  readonly accountId: string;
  readonly facts: Facts;
  /** The newest manifest; version 0: none yet. */
  readonly last: { readonly version: number; readonly hash: string; readonly changes_at: Date | null };
  /** The object of each ad's file, by campaign ad. */
  readonly keys: ReadonlyMap<string, string>;
}

interface Found {
  readonly devices: readonly {
    readonly id: string;
    readonly account_id: string;
    readonly location_id: string | null;
    readonly timezone: string | null;
    readonly version: number | null;
    readonly hash: string | null;
    readonly changes_at: string | null;
  }[];
  readonly wired: readonly (Omit<WiredScreen, 'campaign_ad_ids'> & { readonly device_id: string })[];
  readonly placed: readonly { readonly screen_id: string; readonly campaign_ad_id: string }[];
  readonly ads: readonly (PlayingAd & { readonly content_key: string | null })[];
  readonly campaigns: readonly (Omit<PlayingCampaign, 'published_at'> & { readonly published_at: string })[];
}

/**
 * What manifests are made of, for those of the devices that are known: by one statement, so that all of it is of one
 * moment. Everything is found from the device on, so what else an account has does not matter: by arrays of ids, for which
 * the planner always uses an index, while it would expect a join with so small a table to return everything.
 */
export async function findFacts(tx: Sql, deviceIds: readonly string[]): Promise<DeviceFacts[]> {
  const { rows } = await sql<Found>`
    WITH device AS MATERIALIZED (
      SELECT known.id, coalesce(installation.account_id, known.owner_id, known.account_id) AS account_id,
        location.id AS location_id, location.timezone, installation.outputs, manifest.version, manifest.hash, manifest.changes_at
      FROM known_devices AS known
      LEFT JOIN LATERAL (SELECT * FROM known_installations AS one WHERE one.device_id = known.id AND one.live
          AND one.account_id = coalesce(known.owner_id, one.account_id)
        ORDER BY one.installed_at DESC, one.id DESC LIMIT 1) AS installation ON true
      LEFT JOIN known_locations AS location ON location.id = installation.location_id
      LEFT JOIN device_manifests AS manifest ON manifest.device_id = known.id
      WHERE known.id = ANY(${deviceIds}::text[])
    ), wire AS MATERIALIZED (
      SELECT device.id AS device_id, wire.output, wire.screen_id
      FROM device CROSS JOIN LATERAL jsonb_to_recordset(device.outputs) AS wire(output text, screen_id text)
      WHERE device.location_id IS NOT NULL
    ), wired AS MATERIALIZED (
      SELECT wire.device_id, wire.output, screen.id AS screen_id, screen.width_px, screen.height_px
      FROM wire JOIN known_screens AS screen ON screen.id = wire.screen_id
      WHERE screen.id = ANY(ARRAY(SELECT screen_id FROM wire))
    ), placed AS MATERIALIZED (
      SELECT screen_id, campaign_ad_id, campaign_id FROM placements
      WHERE screen_id = ANY(ARRAY(SELECT screen_id FROM wired)) AND valid_to IS NULL
    ), ad AS (
      SELECT live.campaign_ad_id, live.campaign_id, live.ad_id, live.position, live.sha256, live.size_bytes, live.mime,
        live.duration_ms, live.fit, live.muted, asset.content_key
      FROM live_ads AS live LEFT JOIN media_assets AS asset ON asset.id = live.media_asset_id
      WHERE live.campaign_ad_id = ANY(ARRAY(SELECT DISTINCT campaign_ad_id FROM placed))
    ), campaign AS (
      SELECT campaign_id AS id, version, published_at, snapshot -> 'priority' AS priority, snapshot -> 'start_date' AS start_date,
        snapshot -> 'end_date' AS end_date, snapshot -> 'target' -> 'holdout_percent' AS holdout_percent
      FROM campaign_versions WHERE status = 'live' AND campaign_id = ANY(ARRAY(SELECT DISTINCT campaign_id FROM placed))
    )
    SELECT
      (SELECT coalesce(jsonb_agg(to_jsonb(device) - 'outputs'), '[]') FROM device) AS devices,
      (SELECT coalesce(jsonb_agg(to_jsonb(wired)), '[]') FROM wired) AS wired,
      (SELECT coalesce(jsonb_agg(to_jsonb(placed) - 'campaign_id'), '[]') FROM placed) AS placed,
      (SELECT coalesce(jsonb_agg(to_jsonb(ad)), '[]') FROM ad) AS ads,
      (SELECT coalesce(jsonb_agg(to_jsonb(campaign)), '[]') FROM campaign) AS campaigns`.execute(db(tx));
  return rows.flatMap(readFacts);
}

function readFacts({ devices, wired, placed, ads, campaigns }: Found): DeviceFacts[] {
  const screensOf = Map.groupBy(wired, ({ device_id }) => device_id);
  const placedOn = Map.groupBy(placed, ({ screen_id }) => screen_id);
  const adOf = new Map(ads.map(({ content_key, ...ad }) => [ad.campaign_ad_id, ad]));
  const playing = new Map(campaigns.map((one) => [one.id, { ...one, published_at: new Date(one.published_at) }]));
  const keys = new Map(ads.flatMap((ad) => (ad.content_key === null ? [] : [[ad.campaign_ad_id, ad.content_key]])));
  return devices.map(({ id, account_id, location_id, timezone, version, hash, changes_at }) => {
    const screens = (screensOf.get(id) ?? []).map(({ device_id: _, ...screen }) => ({
      ...screen,
      campaign_ad_ids: (placedOn.get(screen.screen_id) ?? []).map(({ campaign_ad_id }) => campaign_ad_id),
    }));
    const ownAds = new Set(screens.flatMap((screen) => screen.campaign_ad_ids.flatMap((one) => adOf.get(one) ?? [])));
    const own = new Set([...ownAds].flatMap((ad) => playing.get(ad.campaign_id) ?? []));
    const place = location_id === null || timezone === null ? null : { location_id, timezone };
    return {
      accountId: account_id,
      facts: { device_id: id, place, screens, ads: [...ownAds], campaigns: [...own] },
      last: {
        version: version ?? 0,
        hash: hash ?? '',
        changes_at: changes_at === null ? null : new Date(changes_at),
      },
      keys: keys as ReadonlyMap<string, string>,
    };
  });
}
