import { defineArea } from '../area.ts';
import * as campaign from './endpoints.ts';
import * as events from './events.ts';

/** In the order of the API reference. */
export const area = defineArea({
  endpoints: [campaign],
  internalEndpoints: [],
  events: [events],
});
