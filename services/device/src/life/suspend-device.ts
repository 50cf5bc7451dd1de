import { deviceSuspended, suspendDevice } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import { changeDevice, requirePresent, suspend } from '../devices/index.ts';
import type { Life } from './life.ts';
import { eventOf } from './told.ts';

export const suspendDeviceEndpoint = (dependencies: Life) =>
  implementWrite(suspendDevice, dependencies.database.sqlTransaction, async (asked) =>
    changeDevice(dependencies.clock, asked, async (tx, device, now) => {
      requirePresent(device);
      if (device.status === 'suspended') return;
      await suspend(tx, device, now);
      await dependencies.outbox.append(tx, eventOf(deviceSuspended, device, now));
    }),
  );
