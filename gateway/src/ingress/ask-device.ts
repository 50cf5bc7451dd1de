import { type Client, findDeviceCertificate, Problem } from '@attribution/contracts';
import type { CertificateState } from './device-credential.ts';

interface AskOptions {
  readonly client: Client;
  readonly onFailure: (error: unknown) => void;
}

/** Asks the Device service about a certificate. Rejects with `unavailable` if it does not say. */
export function askDevice({ client, onFailure }: AskOptions): (fingerprint: string) => Promise<CertificateState> {
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
