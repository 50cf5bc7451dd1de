import type { IncomingMessage, ServerResponse } from 'node:http';

const preflight = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'authorization, content-type, idempotency-key, traceparent, x-request-id',
  'access-control-max-age': '600',
};
const exposed = 'x-request-id, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset';

/** Lets the configured origins read answers (Fetch standard, CORS). Returns true when it has answered a preflight. */
export function corsFor(origins: readonly string[]): (req: IncomingMessage, res: ServerResponse) => boolean {
  const allowed = new Set(origins);
  return (req, res) => {
    const { origin } = req.headers;
    if (allowed.size > 0) res.setHeader('vary', 'origin');
    if (origin === undefined || !allowed.has(origin)) return false;
    res.setHeader('access-control-allow-origin', origin);
    res.setHeader('access-control-expose-headers', exposed);
    if (req.method !== 'OPTIONS' || !req.headers['access-control-request-method']) return false;
    res.writeHead(204, preflight).end();
    return true;
  };
}
