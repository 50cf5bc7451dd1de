import { findDeviceCertificate, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { type Recognition, recognize } from '../presence/index.ts';

/** The ingress asks when a device has shown the certificate, so the device was heard. */
export const findCertificateEndpoint = (dependencies: Recognition) =>
  implement(findDeviceCertificate, async ({ params }) => {
    const { known, live, status } = await recognize(dependencies, params.fingerprint);
    if (!known) throw Problem.notFound();
    return {
      device_id: known.device_id,
      account_id: known.account_id,
      device_status: status,
      certificate_status: live ? ('live' as const) : ('revoked' as const),
      not_after: known.not_after.toISOString(),
    };
  });
