import Stripe from 'stripe';

/** The API version that the mappings are written for. Change them together when the package is updated. */
const API_VERSION = '2026-10-28.endive';

export interface StripeClientOptions {
  readonly secretKey: string;
  /** Defaults to Stripe's own API. */
  readonly apiBase?: string | undefined;
  /** Time without a response after which an attempt is aborted. With the retry a request takes at most 17 s. */
  readonly timeoutMs?: number | undefined;
  /** Retries of a request under the same key: after a lost connection, a timeout, a conflict or a server error. */
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
