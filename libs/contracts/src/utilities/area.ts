import { defineArea } from '../area.ts';
import * as utilities from './endpoints.ts';
import * as internal from './internal.endpoints.ts';

/** In the order of the API reference. It publishes no events. */
export const area = defineArea({ endpoints: [utilities], internalEndpoints: [internal] });
