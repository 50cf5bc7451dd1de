import { estateSnapshot, locationCreated, locationDeleted, locationUpdated } from '@attribution/contracts';
import { projection } from '@attribution/messaging';
import { follow } from '@attribution/service';

const table = 'known_locations';

const knownLocations = projection({
  table,
  states: [locationCreated, locationUpdated],
  gone: locationDeleted,
  row: ({ account_id, location }) => ({
    ...{ id: location.id, account_id, group_id: location.group_id },
    ...{ timezone: location.timezone, latitude: location.latitude, longitude: location.longitude },
    ...{ venue_type: location.venue_type, opening_hours: location.opening_hours },
  }),
  goneId: ({ location_id }) => location_id,
});

/** The existing locations, in the table `known_locations`. Those that are older than the first event are read from Organization. */
export const followLocations = follow({
  from: 'organization',
  tables: { [table]: knownLocations },
  pages: async (organization, cursor) =>
    (await organization.call(estateSnapshot, { query: { kinds: 'location', cursor: cursor ?? undefined } })).body,
  apply: (page) => [knownLocations.of(page.locations)],
});
