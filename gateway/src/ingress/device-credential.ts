import type { Internal } from '@attribution/auth';
import { type findDeviceCertificate, shutOutDevice, unknownDevice } from '@attribution/contracts';
import type { z } from 'zod';
import type { Authenticate } from '../pipeline.ts';
import type { States } from './certificate-states.ts';
import { type CertificateFault, fingerprintOf } from './shown-certificate.ts';

/** What the Device service says about a certificate; undefined for one that it has not issued. */
export type CertificateState = z.output<typeof findDeviceCertificate.success.body> | undefined;

/** Why a device was refused. */
export const deviceRefusals = ['none', 'untrusted', 'expired', 'unknown', 'revoked', 'retired', 'suspended'] as const;
export type DeviceRefusal = (typeof deviceRefusals)[number];

interface DeviceCredentialOptions {
  readonly states: States<CertificateState>;
  readonly signDevice: Internal['signDevice'];
  readonly onRefused: (reason: DeviceRefusal) => void;
  readonly now: () => number;
}

/**
 * Judges the client's certificate on each request, and tells the service which device calls. The Device service judges it
 * again at each request of its own endpoints, so there it only matters whose it is, and that need not be asked again. On
 * endpoints of other services the answer holds that is remembered.
 */
export function deviceCredential({ states, signDevice, onRefused, now }: DeviceCredentialOptions): Authenticate {
  const refuse = (reason: DeviceRefusal) => {
    onRefused(reason);
    return reason === 'suspended' ? shutOutDevice() : unknownDevice();
  };
  return async (endpoint, req) => {
    if (endpoint.access.credential !== 'device') return undefined;
    const shown = fingerprintOf(req, now());
    if ('fault' in shown) throw refuse(shown.fault satisfies CertificateFault);
    const { fingerprint } = shown;
    const judgesItself = endpoint.service === 'device';
    const remembered = await states.of(fingerprint, judgesItself);
    // A refusal is no older than elsewhere.
    const state = judgesItself && endingOf(remembered) !== undefined ? await states.of(fingerprint) : remembered;
    const ended = endingOf(state);
    if (ended !== undefined || state === undefined) throw refuse(ended ?? 'unknown');
    const { device_id: id, account_id: accountId } = state;
    const suspended = state.device_status === 'suspended';
    if (suspended && !judgesItself) throw refuse('suspended');
    return {
      caller: { id, accountId },
      headers: { authorization: `Bearer ${signDevice(endpoint.service, { id, accountId, fingerprint })}` },
      onResponse(status) {
        // The service knows better: whatever was remembered is asked anew.
        if (status === 401 || suspended !== (status === 403)) states.forget(fingerprint);
      },
    };
  };
}

/** What ends a certificate for good, so that it need not be asked again. */
function endingOf(state: CertificateState): DeviceRefusal | undefined {
  if (state === undefined) return 'unknown';
  if (state.certificate_status === 'revoked') return 'revoked';
  return state.device_status === 'retired' ? 'retired' : undefined;
}
