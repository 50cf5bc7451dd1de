import Stripe from 'stripe';

/** What the mappings are written for; an update of the package to a newer one is a change of them. */
const API_VERSION = '2026-10-28.endive';

export interface StripeClientOptions {
  readonly secretKey: string;
  /** Default: Stripe's own. */
  readonly apiBase?: string | undefined;
  /** Silence after which an attempt is given up. With the retry it is 17 s at most for one request. */
  readonly timeoutMs?: number | undefined;
  /** Of one request, under the same key: after a lost connection, a timeout, a conflict or a failure of theirs. */
  readonly retries?: number | undefined;
}

export function createStripeClient({
  secretKey,
  apiBase,
  timeoutMs = 8_000,
  retries = 1,
}: StripeClientOptions): Stripe {
  return new Stripe(secretKey, {
    apiVersion: API_VERSION,
    timeout: timeoutMs,
    maxNetworkRetries: retries,
    telemetry: false,
    ...(apiBase === undefined ? {} : addressOf(apiBase)),
  });
}

function addressOf(apiBase: string) {
  const { protocol, hostname, port, pathname } = new URL(apiBase);
  if ((protocol !== 'http:' && protocol !== 'https:') || pathname !== '/') {
    throw new Error('The API base of Stripe has to be http(s)://host[:port]');
  }
  const http = protocol === 'http:';
  return {
    protocol: http ? ('http' as const) : ('https' as const),
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (http ? 80 : 443) : Number(port),
  };
}
