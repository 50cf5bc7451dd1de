import { deviceRetired, Problem, retireDevice } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import { revoke, revokedEvents } from '../certificates/index.ts';
import { changeDevice, retire } from '../devices/index.ts';
import { isInstalled } from '../estate/index.ts';
import type { Life } from './life.ts';
import { eventOf } from './told.ts';

export const retireDeviceEndpoint = (dependencies: Life) =>
  implementWrite(retireDevice, dependencies.database.sqlTransaction, async (asked) =>
    changeDevice(dependencies.clock, asked, async (tx, device, now) => {
      if (device.status === 'retired') return;
      if (await isInstalled(tx, device)) throw new Problem('conflict', 'The device is in a live installation.');
      await retire(tx, device.id, now);
      const revoked = await revoke(tx, { deviceId: device.id }, 'retired', now);
      const about = { deviceId: device.id, accountId: device.account_id };
      const ends = revokedEvents(about, revoked, 'retired', now);
      await dependencies.outbox.append(tx, eventOf(deviceRetired, device, now), ...ends);
    }),
  );
