import { defineArea } from '../area.ts';
import * as billing from './endpoints.ts';
import * as events from './events.ts';
import * as internal from './internal.endpoints.ts';
import * as webhooks from './webhook.endpoints.ts';

/** In the order of the API reference. */
export const area = defineArea({
  endpoints: [billing, webhooks],
  internalEndpoints: [internal],
  events: [events],
});
