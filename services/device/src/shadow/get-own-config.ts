import { getOwnConfig, unknownDevice } from '@attribution/contracts';
import { implementPrepared } from '@attribution/service';
import { admitDevice, type Recognition } from '../presence/index.ts';
import { findShadow } from './shadow.store.ts';

export const getOwnConfigEndpoint = (dependencies: Recognition) =>
  implementPrepared(getOwnConfig, admitDevice(dependencies), async ({ prepared }) => {
    const shadow = await findShadow(dependencies.database.sql, prepared.device_id);
    if (!shadow) throw unknownDevice();
    return shadow;
  });
