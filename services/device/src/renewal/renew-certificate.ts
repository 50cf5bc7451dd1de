import { type Authority, signingOf } from '@attribution/certificates';
import { Problem, renewCertificate, unknownDevice } from '@attribution/contracts';
import { implementPrepared } from '@attribution/service';
import { createIssueNext, findUnused, isLive, usableCsr } from '../certificates/index.ts';
import { admitDevice, type Recognition } from '../presence/index.ts';

export function renewCertificateEndpoint(dependencies: Recognition & { readonly authority: () => Authority }) {
  const { database, clock, authority } = dependencies;
  const issueNext = createIssueNext(dependencies, 'certificate');

  return implementPrepared(renewCertificate, admitDevice(dependencies), async ({ body, prepared }) => {
    const { device_id: id, account_id, certificates_issued, fingerprint } = prepared;
    const key = usableCsr(body.csr);
    const device = { id, account_id, certificates_issued, status: null, unused: await findUnused(database.sql, id) };
    const wanted = { signing: signingOf(authority()), key, proof: fingerprint, now: clock.now() };
    const answer = await issueNext(device, wanted);
    if (answer) return answer;
    if (!(await isLive(database.sql, fingerprint))) throw unknownDevice();
    // Of renewals at once the first wins: each of the others would replace a certificate that may be on its way.
    throw new Problem('conflict', 'Another certificate has just been issued to this device.');
  });
}
