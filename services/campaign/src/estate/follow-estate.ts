import * as contracts from '@attribution/contracts';
import { projection } from '@attribution/messaging';
import { follow } from '@attribution/service';
import { knownDevices } from './known-device.store.ts';

const locations = projection({
  table: 'known_locations',
  states: [contracts.locationCreated, contracts.locationUpdated],
  gone: contracts.locationDeleted,
  row: ({ account_id, location: { id, group_id, name, timezone, status } }) => ({
    ...{ id, account_id, group_id, name, timezone, status },
  }),
  goneId: ({ location_id }) => location_id,
});

const screens = projection({
  table: 'known_screens',
  states: [contracts.screenCreated, contracts.screenUpdated],
  gone: contracts.screenDeleted,
  row: ({ account_id, screen: { id, location_id, zone_id, name, tags, ...kind } }) => ({
    ...{ id, account_id, location_id, zone_id, name, tags },
    width_px: kind.width_px,
    height_px: kind.height_px,
    accepted_formats: kind.accepted_formats,
    audio: kind.audio,
  }),
  goneId: ({ screen_id }) => screen_id,
});

const installations = projection({
  table: 'known_installations',
  states: [contracts.installationCreated, contracts.installationUpdated],
  gone: contracts.installationDeleted,
  row: ({ account_id, installation: { id, location_id, device_id, status, installed_at, outputs } }) => ({
    ...{ id, account_id, location_id, device_id, installed_at, outputs },
    live: status === 'live',
    screen_ids: outputs.map(({ screen_id }) => screen_id),
  }),
  goneId: ({ installation_id }) => installation_id,
});

/** The name of the snapshot, under which its progress is kept. */
export const estateSnapshotName = 'estate';

/** Locations, screens, installations and devices, in the tables `known_…`. Groups are followed on their own. */
export const followEstate = follow({
  from: 'organization',
  tables: {
    known_locations: locations,
    known_screens: screens,
    known_installations: installations,
    known_devices: knownDevices,
  },
  pages: async (organization, cursor) => {
    const query = { kinds: 'location,screen,installation', cursor: cursor ?? undefined };
    return (await organization.call(contracts.estateSnapshot, { query })).body;
  },
  apply: (page) => [
    locations.of(page.locations),
    screens.of(page.screens),
    installations.of(page.installations),
    knownDevices.of(page.installations),
  ],
});
