import type { IncomingMessage } from 'node:http';
import type { HeaderList } from './response-headers.ts';

const preflight: HeaderList = [
  'access-control-allow-methods',
  'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers',
  'authorization, content-type, idempotency-key, traceparent, x-request-id',
  'access-control-max-age',
  '600',
];
const exposed = 'content-disposition, x-request-id, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset';

export interface Cors {
  /** The headers that say whether the requesting page may read the response. */
  headersFor(req: IncomingMessage): HeaderList;
  /** The headers of the response to a preflight; undefined when the request is not one, or its origin is not allowed. */
  preflightFor(req: IncomingMessage): HeaderList | undefined;
}

/** Lets pages of the configured origins read responses (CORS, in the Fetch standard). */
export function corsFor(origins: readonly string[]): Cors {
  const varying: HeaderList = origins.length > 0 ? ['vary', 'origin'] : [];
  const allowed = new Map<string | undefined, HeaderList>(
    origins.map((origin) => [
      origin,
      [...varying, 'access-control-allow-origin', origin, 'access-control-expose-headers', exposed],
    ]),
  );
  return {
    headersFor: ({ headers }) => allowed.get(headers.origin) ?? varying,
    preflightFor({ method, headers }) {
      const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'];
      return isPreflight && allowed.has(headers.origin) ? preflight : undefined;
    },
  };
}
