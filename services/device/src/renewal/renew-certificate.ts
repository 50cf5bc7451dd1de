import { type Authority, signingOf } from '@attribution/certificates';
import { Problem, renewCertificate, unknownDevice } from '@attribution/contracts';
import { implementPrepared } from '@attribution/service';
import { issueNext, lockLive, usableCsr } from '../certificates/index.ts';
import { lockDevice } from '../devices/index.ts';
import { admitDevice, type Recognition } from '../presence/index.ts';

export const renewCertificateEndpoint = (dependencies: Recognition & { readonly authority: () => Authority }) =>
  implementPrepared(renewCertificate, admitDevice(dependencies), async ({ body, prepared }) => {
    const { database, outbox, clock, authority } = dependencies;
    const key = usableCsr(body.csr);
    const signing = signingOf(authority());
    return database.sqlTransaction(async (tx) => {
      const device = await lockDevice(tx, prepared.device_id);
      if (!device?.account_id || !(await lockLive(tx, prepared.fingerprint))) throw unknownDevice();
      // Of renewals at once the first wins: each of the others would replace a certificate that may be on its way.
      if (device.certificates_issued !== prepared.certificates_issued)
        throw new Problem('conflict', 'Another certificate has just been issued to this device.');
      const wanted = { signing, key, now: clock.now() };
      const issued = await issueNext(tx, { ...device, account_id: device.account_id }, wanted);
      await outbox.append(tx, ...issued.events);
      return issued.answer;
    });
  });
