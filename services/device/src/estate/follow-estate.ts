import {
  estateSnapshot,
  installationCreated,
  installationDeleted,
  installationUpdated,
  locationCreated,
  locationDeleted,
  locationUpdated,
} from '@attribution/contracts';
import { projection } from '@attribution/messaging';
import { follow } from '@attribution/service';

const known_locations = projection({
  table: 'known_locations',
  states: [locationCreated, locationUpdated],
  gone: locationDeleted,
  row: ({ account_id, location }) => ({ id: location.id, account_id, group_id: location.group_id }),
  goneId: ({ location_id }) => location_id,
});

const known_installations = projection({
  table: 'known_installations',
  states: [installationCreated, installationUpdated],
  gone: installationDeleted,
  row: ({ account_id, installation: { id, device_id, location_id, status } }) => ({
    ...{ id, account_id, device_id, location_id },
    live: status === 'live',
  }),
  goneId: ({ installation_id }) => installation_id,
});

/** Where devices are installed, and the groups of these locations. */
export const followEstate = follow({
  from: 'organization',
  tables: { known_locations, known_installations },
  pages: async (organization, cursor) => {
    const query = { kinds: 'location,installation', cursor: cursor ?? undefined };
    return (await organization.call(estateSnapshot, { query })).body;
  },
  apply: (page) => [known_locations.of(page.locations), known_installations.of(page.installations)],
});
