import * as contracts from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';

const at = '2026-11-22T10:00:00.000Z';
const made = { created_at: at, updated_at: at };

type Location = contracts.EventData<typeof contracts.locationCreated>['location'];
type Screen = contracts.EventData<typeof contracts.screenCreated>['screen'];
type Installation = contracts.EventData<typeof contracts.installationCreated>['installation'];

export const newLocation = (fields: Partial<Location> = {}): Location => ({
  id: newId('location'),
  group_id: newId('group'),
  name: 'Bahnhofstrasse',
  external_id: null,
  timezone: 'Europe/Zurich',
  address: null,
  latitude: null,
  longitude: null,
  venue_type: null,
  venue_taxonomy: null,
  opening_hours: null,
  status: 'active',
  ...made,
  ...fields,
});

export const newScreen = (location: Pick<Location, 'id'>, fields: Partial<Screen> = {}): Screen => ({
  id: newId('screen'),
  location_id: location.id,
  zone_id: newId('zone'),
  name: 'Window left',
  external_id: null,
  tags: ['entrance'],
  width_px: 1920,
  height_px: 1080,
  orientation: 'landscape',
  accepted_formats: ['image/jpeg', 'image/png', 'video/mp4'],
  audio: false,
  ...made,
  ...fields,
});

/** Wires the screens to `HDMI-1`, `HDMI-2` and so on. */
export const newInstallation = (
  location: Pick<Location, 'id'>,
  screens: readonly Pick<Screen, 'id'>[],
  fields: Partial<Installation> = {},
): Installation => ({
  id: newId('installation'),
  location_id: location.id,
  device_id: newId('device'),
  name: null,
  external_id: null,
  outputs: screens.map(({ id }, n) => ({ output: `HDMI-${n + 1}`, screen_id: id })),
  status: 'live',
  installed_at: at,
  removed_at: null,
  ...made,
  ...fields,
});

/** Announces an account's estate to the service, as Organization does: each change of a thing is its next version. */
export function announce(service: TestService, account_id: string) {
  const versions = new Map<string, number>();
  const next = (id: string) => {
    const aggregate_version = (versions.get(id) ?? 0) + 1;
    versions.set(id, aggregate_version);
    return { account_id, aggregate_version };
  };
  return {
    location: (location: Location) =>
      service.deliver(contracts.locationUpdated, { ...next(location.id), location }, account_id),
    screen: (screen: Screen) => service.deliver(contracts.screenUpdated, { ...next(screen.id), screen }, account_id),
    installation: (installation: Installation) =>
      service.deliver(contracts.installationUpdated, { ...next(installation.id), installation }, account_id),
    screenGone: (screen_id: string) =>
      service.deliver(contracts.screenDeleted, { ...next(screen_id), screen_id }, account_id),
    locationGone: (location_id: string) =>
      service.deliver(contracts.locationDeleted, { ...next(location_id), location_id }, account_id),
    installationGone: (installation_id: string) =>
      service.deliver(contracts.installationDeleted, { ...next(installation_id), installation_id }, account_id),
  };
}
