import {
  type Client,
  contextOf,
  coverage,
  type Endpoint,
  geocode,
  reverseGeocode,
  timezoneOf,
  weatherAt,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { ResponsesByStatus } from './every-status-billing.ts';

interface People {
  readonly nobody: () => Client;
  readonly owner: () => Client;
  /** Has no access to this service. */
  readonly outsider: () => Client;
}

const point = { latitude: 47.3686, longitude: 8.5392 };

/** A complete query of each endpoint. */
const queries: readonly (readonly [Endpoint, object])[] = [
  [geocode, { query: 'Zürich' }],
  [reverseGeocode, point],
  [timezoneOf, point],
  [coverage, { ...point, radius_m: 500 }],
  [weatherAt, point],
  [contextOf, point],
];

/** For the look-ups. 502 is for upstreams, which the service's own tests have. */
export function ofUtilities({ nobody, owner, outsider }: People): ResponsesByStatus {
  const entries = queries.map(([endpoint, query]) => {
    const ask = (client: () => Client, given: object) => async () =>
      client().call(endpoint, { query: given } as never) as never;
    const common = { 400: ask(owner, {}), 401: ask(nobody, query), 403: ask(outsider, query) };
    const unseen = endpoint.operation === 'context' && { 404: ask(owner, { location_id: newId('location') }) };
    return [endpoint.operation, { ...common, ...unseen }] as const;
  });
  return Object.fromEntries(entries);
}
