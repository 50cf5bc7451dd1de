import { randomBytes } from 'node:crypto';
import * as contracts from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';
import { deviceToken, eventually, personToken, startTestService, type TestService } from '@attribution/testing';
import type { z } from 'zod';
import events from '../src/index.ts';
import { addMonth, rawTables } from '../src/partitions/partition.store.ts';

export const startEvents = (environment: Readonly<Record<string, string>> = {}) =>
  startTestService(events, { environment });

/** As `startEvents`, and items of all months since 1970 are kept, so that figures of any year are made. */
export async function startWithPast(environment: Readonly<Record<string, string>> = {}): Promise<TestService> {
  const service = await startEvents({ EVENTS_RETENTION_DAYS: '36500', ...environment });
  for (const table of rawTables) await addMonth(service.db, table, '1970_01');
  return service;
}

export const addressesOf = ({ url }: { readonly url: string }) => ({ ORGANIZATION_URL: url, CAMPAIGN_URL: url });

const made = { created_at: '2026-11-01T10:00:00.000Z', updated_at: '2026-11-01T10:00:00.000Z', external_id: null };

type Location = z.output<typeof contracts.Location>;
const newLocation = (changes: Partial<Location> = {}): Location => ({
  ...{ id: newId('location'), group_id: newId('group'), name: 'Shop', timezone: 'Europe/Zurich', address: null },
  ...{ latitude: null, longitude: null, venue_type: null, venue_taxonomy: null, opening_hours: null },
  ...{ status: 'active', ...made, ...changes },
});

const newZone = (location_id: string): z.output<typeof contracts.Zone> => ({
  ...{ id: newId('zone'), location_id, name: 'Window', kind: 'window', ...made },
});

const newScreen = (location_id: string, zone_id: string): z.output<typeof contracts.Screen> => ({
  ...{ id: newId('screen'), location_id, zone_id, name: 'Left', tags: [], width_px: 1920, height_px: 1080 },
  ...{ orientation: 'landscape', accepted_formats: ['image/png'], audio: false, ...made },
});

const newInstallation = (location_id: string, device_id: string): z.output<typeof contracts.Installation> => ({
  ...{ id: newId('installation'), location_id, device_id, name: null, outputs: [], status: 'live', removed_at: null },
  ...{ installed_at: made.created_at, ...made },
});

/** An account with a location of a zone and a screen, a device in it, and a campaign with an ad in two versions. */
export function newWorld(timezone = 'Europe/Zurich', account = newId('account')) {
  const location = newLocation({ timezone });
  const zone = newZone(location.id);
  const screen = newScreen(location.id, zone.id);
  const device = newId('device');
  const installation = newInstallation(location.id, device);
  const [campaign, ad] = [newId('campaign'), newId('campaign_ad')];
  const state = { account_id: account, aggregate_version: 1 };
  const versions = [1, 2].map((version) => ({
    ...{ campaign_id: campaign, account_id: account, version, published_at: made.created_at, holdout_percent: 10 },
    campaign_ad_ids: [ad],
  }));
  return {
    ...{ account, location, zone, screen, device, installation, campaign, ad, versions },
    /** As the owner answers who asks. */
    estate: {
      locations: [{ ...state, location }],
      zones: [{ ...state, zone }],
      screens: [{ ...state, screen }],
      installations: [{ ...state, installation }],
    },
    /** Tells the service of everything. */
    async tell(service: TestService) {
      await service.deliver(contracts.locationCreated, { ...state, location }, account);
      await service.deliver(contracts.zoneCreated, { ...state, zone }, account);
      await service.deliver(contracts.screenCreated, { ...state, screen }, account);
      await service.deliver(contracts.installationCreated, { ...state, installation }, account);
      for (const version of versions)
        await service.deliver(contracts.campaignPublished, { ...version, content_hash: 'x' }, account);
    },
    player: (service: TestService, id = device) =>
      service.client.with({
        token: () => deviceToken({ id, accountId: account, fingerprint: 'a'.repeat(64) }, 'events'),
      }),
    as: (service: TestService, claims = {}) => service.client.with({ token: personToken({ account, ...claims }) }),
    /** Somebody who was in the zone all the time. Times are in seconds before now. */
    visit(service: TestService, [from, to]: readonly [number, number] = [600, 300], changes: object = {}) {
      const now = service.clock.now();
      const [entered_at, left_at] = [secondsAgo(service, from, now), secondsAgo(service, to, now)];
      return {
        ...{ event_id: newUuid(), visitor_key: newVisitor(), location_id: location.id, entered_at, left_at },
        zones: [{ zone_id: zone.id, entered_at, left_at }],
        ...changes,
      };
    },
    play(service: TestService, [from, to]: readonly [number, number] = [500, 490], changes: object = {}) {
      const times = { started_at: secondsAgo(service, from), ended_at: secondsAgo(service, to) };
      return { event_id: newUuid(), screen_id: screen.id, campaign_ad_id: ad, version: 2, ...times, ...changes };
    },
  };
}
export type World = ReturnType<typeof newWorld>;

export const newVisitor = () => randomBytes(16).toString('base64url');

/** Times that are compared to the millisecond need the same `now`. */
export const secondsAgo = (service: TestService, seconds: number, now = service.clock.now()) =>
  new Date(now.getTime() - seconds * 1000).toISOString();

export const batch = (service: TestService, items: readonly unknown[], changes: object = {}) => ({
  body: { sent_at: secondsAgo(service, 0), items: [...items], ...changes },
});

/** Waits until the outbox is empty, and returns what the account's items were told by. When they are in the figures is told besides. */
export async function toldItems(service: TestService, account: string): Promise<contracts.Envelope[]> {
  await eventually(async () => {
    const { rows } = await service.db.query('SELECT sequence FROM outbox');
    if (rows.length > 0) throw new Error('The outbox is not empty yet');
  });
  const types: readonly string[] = [contracts.visitsAccepted.type, contracts.playsAccepted.type];
  return service.published.filter(({ account_id, type }) => account_id === account && types.includes(type));
}
