import { type KeyObject, randomInt } from 'node:crypto';
import { issueDeviceCertificate, type Signing } from '@attribution/certificates';
import type { CertificateAnswer } from '@attribution/contracts';
import type { z } from 'zod';
import type { CertificateRow } from './certificate.store.ts';

type Answer = z.output<typeof CertificateAnswer>;

/** A certificate that was made, as a row and as the device gets it. */
export interface Issued {
  readonly row: CertificateRow;
  readonly answer: Answer;
}

/** Between half and three quarters of the time, at a whole second, so that fleets do not renew at once. */
function renewalWithin(notBefore: Date, notAfter: Date): Date {
  const [from, to] = [notBefore.getTime(), notAfter.getTime()].map((ms) => Math.ceil(ms / 1000)) as [number, number];
  const [half, threeQuarters] = [from + (to - from) / 2, from + ((to - from) * 3) / 4].map(Math.floor) as [
    number,
    number,
  ];
  return new Date(randomInt(half + 1, threeQuarters) * 1000);
}

/** Makes the certificate with this number of a device. `chain`: the issuing authority first, the root last. */
export function issue(
  signing: Signing & { readonly chain: readonly string[] },
  device: { readonly id: string; readonly number: number },
  publicKey: KeyObject,
  now: Date,
): Issued {
  const { certificate, fingerprint, serial, notBefore, notAfter } = issueDeviceCertificate(
    signing,
    device.id,
    publicKey,
    now,
  );
  const renewAfter = renewalWithin(notBefore, notAfter);
  return {
    row: {
      fingerprint,
      device_id: device.id,
      serial,
      not_before: notBefore,
      not_after: notAfter,
      renew_after: renewAfter,
      number: device.number,
      used_at: null,
      revoked_at: null,
      revocation_reason: null,
    },
    answer: {
      device_id: device.id,
      certificate,
      chain: [...signing.chain],
      not_before: notBefore.toISOString(),
      not_after: notAfter.toISOString(),
      renew_after: renewAfter.toISOString(),
      server_time: now.toISOString(),
    },
  };
}
