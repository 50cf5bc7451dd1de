import { Problem, revokeDeviceCertificate } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import { revoke, revokedEvents } from '../certificates/index.ts';
import { changeDevice } from '../devices/index.ts';
import type { Life } from './life.ts';

export const revokeCertificateEndpoint = (dependencies: Life) =>
  implementWrite(revokeDeviceCertificate, dependencies.database.sqlTransaction, async ({ body, ...asked }) =>
    changeDevice(dependencies.clock, asked, async (tx, device, now) => {
      const revoked = await revoke(tx, { deviceId: device.id, after: now }, body.reason, now);
      if (revoked.length === 0) throw new Problem('conflict', 'No certificate of the device is in force.');
      const about = { deviceId: device.id, accountId: device.account_id };
      await dependencies.outbox.append(tx, ...revokedEvents(about, revoked, body.reason, now));
    }),
  );
