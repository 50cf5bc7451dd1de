import { type Client, createClient } from '@attribution/contracts';
import { traceHeaders } from '@attribution/tracing';

interface DeviceClientOptions {
  /** The address of the Device service. */
  readonly url: string;
  readonly token: () => string;
  readonly timeoutMs: number;
}

/** Calls Internal endpoints of the Device service. A redirect would take the token elsewhere, so it fails. */
export function createDeviceClient({ url, token, timeoutMs }: DeviceClientOptions): Client {
  const withoutRedirects: typeof fetch = (address, init) => fetch(address, { ...init, redirect: 'error' });
  return createClient({
    baseUrl: url,
    token,
    headers: traceHeaders,
    timeout: timeoutMs,
    fetch: withoutRedirects,
  });
}
