import { newId, newUuid } from '@attribution/ids';
import type { BenchDatabase } from '../database.ts';
import type { BenchDevice } from './devices.ts';
import type { Seeded } from './seed.ts';
import type { Batch } from './sender.ts';

/** What is played, and where. */
export interface Playing {
  readonly screen: string;
  readonly location: string;
  readonly ad: string;
}

/** A screen that a device plays on. */
export interface PlayingScreen extends Playing {
  readonly device: BenchDevice;
}

/** Gives each device a screen in one of the locations, and the campaign an ad. */
export async function seedScreens(
  database: BenchDatabase,
  { account, campaign, locations }: Seeded,
  devices: readonly BenchDevice[],
): Promise<readonly PlayingScreen[]> {
  const ad = newId('campaign_ad');
  const screens = devices.map((device, at) => ({
    ...{ device, ad, screen: newId('screen'), location: locations[at % locations.length] ?? '' },
  }));
  const rows = screens.map(({ device, screen, location }) => ({
    device: device.id,
    screen,
    location,
    zone: newId('zone'),
  }));
  const table = 'jsonb_to_recordset($2) AS row(device text, screen text, location text, zone text)';
  const values = [account, JSON.stringify(rows)];
  await database.sql(
    `INSERT INTO known_screens (account_id, id, location_id, zone_id, aggregate_version)
     SELECT $1, screen, location, zone, 1 FROM ${table}`,
    values,
  );
  await database.sql(
    `INSERT INTO device_locations (account_id, device_id, location_id) SELECT $1, device, location FROM ${table}`,
    values,
  );
  await database.sql('INSERT INTO known_campaign_ads (account_id, campaign_id, campaign_ad_id) VALUES ($1, $2, $3)', [
    ...[account, campaign, ad],
  ]);
  return screens;
}

export interface SentPlay {
  readonly event_id: string;
  readonly screen_id: string;
  readonly campaign_ad_id: string;
  readonly version: number;
  readonly started_at: string;
  readonly ended_at: string;
  readonly completed: boolean;
  readonly holdout: boolean;
}

/** So many plays of ten seconds, one after the other, the last of which has just ended. */
export function drawPlays({ screen, ad }: Playing, count: number): SentPlay[] {
  const now = Date.now();
  const iso = (tens: number) => new Date(now - tens * 10_000).toISOString();
  return Array.from({ length: count }, (_, n) => ({
    ...{ event_id: newUuid(), screen_id: screen, campaign_ad_id: ad, version: 1 },
    ...{ started_at: iso(count - n), ended_at: iso(count - n - 1), completed: true, holdout: n % 10 === 0 },
  }));
}

export const batchOf = (plays: readonly SentPlay[]): Batch => ({
  items: plays.length,
  body: Buffer.from(JSON.stringify({ sent_at: new Date().toISOString(), clock_synced: true, items: plays })),
});
