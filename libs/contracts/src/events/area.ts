import { defineArea } from '../area.ts';
import * as blacklist from './blacklist.endpoints.ts';
import * as campaigns from './campaigns.endpoints.ts';
import * as device from './device.endpoints.ts';
import * as events from './events.ts';
import * as loyalty from './loyalty.endpoints.ts';
import * as plays from './plays.endpoints.ts';
import * as quarantine from './quarantine.endpoints.ts';
import * as rebuild from './rebuild.endpoints.ts';
import * as visits from './visits.endpoints.ts';

/** In the order of the API reference. */
export const area = defineArea({
  endpoints: [visits, campaigns, plays, loyalty, blacklist, quarantine],
  internalEndpoints: [rebuild],
  deviceEndpoints: [device],
  events: [events],
});
