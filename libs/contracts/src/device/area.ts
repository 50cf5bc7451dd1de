import { defineArea } from '../area.ts';
import * as contact from './contact.endpoints.ts';
import * as device from './device.endpoints.ts';
import * as devices from './devices.endpoints.ts';
import * as events from './events.ts';
import * as internal from './internal.endpoints.ts';

/** In the order of the API reference. */
export const area = defineArea({
  endpoints: [devices],
  internalEndpoints: [internal],
  deviceEndpoints: [contact, device],
  events: [events],
});
