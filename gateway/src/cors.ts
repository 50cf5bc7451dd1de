import type { IncomingMessage } from 'node:http';
import type { HeaderList } from './answer-headers.ts';

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
  /** What says whether the asking page may read the answer. */
  headersFor(req: IncomingMessage): HeaderList;
  /** The headers of the answer to a preflight; undefined when it is none, or nobody's who may ask. */
  preflightFor(req: IncomingMessage): HeaderList | undefined;
}

/** Lets the configured origins read answers (Fetch standard, CORS). */
export function corsFor(origins: readonly string[]): Cors {
  const others: HeaderList = origins.length > 0 ? ['vary', 'origin'] : [];
  const allowed = new Map<string | undefined, HeaderList>(
    origins.map((origin) => [
      origin,
      [...others, 'access-control-allow-origin', origin, 'access-control-expose-headers', exposed],
    ]),
  );
  return {
    headersFor: ({ headers }) => allowed.get(headers.origin) ?? others,
    preflightFor({ method, headers }) {
      const asks = method === 'OPTIONS' && headers['access-control-request-method'];
      return asks && allowed.has(headers.origin) ? preflight : undefined;
    },
  };
}
