import { updateDevice } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implementWrite } from '@attribution/service';
import type { DeviceDatabase } from '../store.ts';
import { changeDevice, requirePresent } from './change.ts';
import { renameDevice } from './device.store.ts';

export const updateDeviceEndpoint = (dependencies: { database: DeviceDatabase; clock: Clock }) =>
  implementWrite(updateDevice, dependencies.database.sqlTransaction, async ({ body, ...asked }) =>
    changeDevice(dependencies.clock, asked, async (tx, device, now, note) => {
      requirePresent(device);
      const { name = device.name } = body;
      note({ changed: name === device.name ? [] : ['name'] });
      if (name !== null && name !== device.name) await renameDevice(tx, device.id, name, now);
    }),
  );
