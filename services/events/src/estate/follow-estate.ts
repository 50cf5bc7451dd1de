import type { EventType } from '@attribution/contracts';
import * as contracts from '@attribution/contracts';
import type { SqlTransaction } from '@attribution/database';
import { onBatch, type Projection, projection } from '@attribution/messaging';
import { follow } from '@attribution/service';
import type { z } from 'zod';
import { insertDeviceLocations } from './device-location.store.ts';

const known_locations = projection({
  table: 'known_locations',
  states: [contracts.locationCreated, contracts.locationUpdated],
  gone: contracts.locationDeleted,
  row: ({ account_id, location: { id, group_id, timezone } }) => ({ account_id, id, group_id, timezone }),
  goneId: ({ location_id }) => location_id,
  keepsGone: true,
});

const known_zones = projection({
  table: 'known_zones',
  states: [contracts.zoneCreated, contracts.zoneUpdated],
  gone: contracts.zoneDeleted,
  row: ({ account_id, zone: { id, location_id } }) => ({ account_id, id, location_id }),
  goneId: ({ zone_id }) => zone_id,
  keepsGone: true,
});

const known_screens = projection({
  table: 'known_screens',
  states: [contracts.screenCreated, contracts.screenUpdated],
  gone: contracts.screenDeleted,
  row: ({ account_id, screen: { id, location_id, zone_id } }) => ({ account_id, id, location_id, zone_id }),
  goneId: ({ screen_id }) => screen_id,
  keepsGone: true,
});

type Page = Pick<
  z.output<typeof contracts.EstatePage>,
  'locations' | 'zones' | 'screens' | 'installations' | 'cameras'
>;
type Installed = Page['installations'][number];
type Watched = Page['cameras'][number];

const installedAt = ({ account_id, installation: { device_id, location_id } }: Installed) => ({
  ...{ account_id, device_id, location_id },
});
const watchedAt = ({ account_id, camera: { device_id, location_id } }: Watched) => ({
  ...{ account_id, device_id, location_id },
});

const told = <T extends EventType>(event: T, rowOf: (data: contracts.EventData<T>) => ReturnType<typeof installedAt>) =>
  onBatch(event, (tx: SqlTransaction, events) =>
    insertDeviceLocations(
      tx,
      events.map(({ data }) => rowOf(data)),
    ),
  );

/** Rows are added alone: a device may still send what it saw where it was. */
const device_locations = {
  isHistory: true as const,
  handlers: [
    told(contracts.installationCreated, installedAt),
    told(contracts.installationUpdated, installedAt),
    told(contracts.cameraCreated, watchedAt),
    told(contracts.cameraUpdated, watchedAt),
  ],
};

/** The writes for states of the estate that come from elsewhere than the events, under the lock of the projections. */
export const estateWrites = (page: Page): readonly ReturnType<Projection<never>['of']>[] => [
  known_locations.of(page.locations),
  known_zones.of(page.zones),
  known_screens.of(page.screens),
  (tx) => insertDeviceLocations(tx, [...page.installations.map(installedAt), ...page.cameras.map(watchedAt)]),
];

/** Locations, zones, screens, and where devices are. */
export const followEstate = follow({
  from: 'organization',
  tables: { known_locations, known_zones, known_screens, device_locations },
  pages: async (organization, cursor) => {
    const query = { kinds: 'location,zone,screen,installation,camera', cursor: cursor ?? undefined };
    return (await organization.call(contracts.estateSnapshot, { query })).body;
  },
  apply: (page) => estateWrites(page),
});
