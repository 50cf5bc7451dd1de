import { deviceResumed, resumeDevice } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import { changeDevice, requirePresent, resume } from '../devices/index.ts';
import type { Life } from './life.ts';
import { eventOf } from './told.ts';

export const resumeDeviceEndpoint = (dependencies: Life) =>
  implementWrite(resumeDevice, dependencies.database.sqlTransaction, async (asked) =>
    changeDevice(dependencies.clock, asked, async (tx, device, now) => {
      requirePresent(device);
      const { resumes_as: status } = device;
      if (device.status !== 'suspended' || !status) return;
      await resume(tx, device.id, status, now);
      await dependencies.outbox.append(tx, eventOf(deviceResumed, device, now, { status }));
    }),
  );
