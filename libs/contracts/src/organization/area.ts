import { defineArea } from '../area.ts';
import * as cameras from './cameras.endpoints.ts';
import * as organization from './endpoints.ts';
import * as estate from './estate.endpoints.ts';
import * as events from './events.ts';
import * as installations from './installations.endpoints.ts';
import * as internal from './internal.endpoints.ts';
import * as screens from './screens.endpoints.ts';
import * as zones from './zones.endpoints.ts';

/** In the order of the API reference. */
export const area = defineArea({
  endpoints: [organization, zones, screens, installations, cameras, estate],
  internalEndpoints: [internal],
  events: [events],
});
