import { createClient, findDeviceCertificate, Problem } from '@attribution/contracts';
import { traceHeaders } from '@attribution/tracing';
import type { CertificateState } from './device-credential.ts';

/** A device waits no longer for the state of its certificate. */
const timeoutMs = 2_000;

interface AskOptions {
  /** The address of the Device service. */
  readonly url: string;
  readonly token: () => string;
  readonly onFailure: (error: unknown) => void;
}

/** Asks the Device service about a certificate. Rejects with `unavailable` if it does not say. */
export function askDevice({ url, token, onFailure }: AskOptions): (fingerprint: string) => Promise<CertificateState> {
  const withoutRedirects: typeof fetch = (address, init) => fetch(address, { ...init, redirect: 'error' });
  const client = createClient({
    baseUrl: url,
    token,
    headers: traceHeaders,
    timeout: timeoutMs,
    fetch: withoutRedirects,
  });
  return async (fingerprint) => {
    try {
      const answer = await client.call(findDeviceCertificate, { params: { fingerprint } });
      return answer.status === 404 ? undefined : answer.body;
    } catch (error) {
      onFailure(error);
      throw new Problem('unavailable', 'The certificate cannot be checked for the moment. Try again.', {
        'retry-after': '2',
      });
    }
  };
}
