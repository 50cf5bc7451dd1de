import { sendInventory } from '@attribution/contracts';
import { implementPrepared } from '@attribution/service';
import { admitDevice, type Recognition } from '../presence/index.ts';
import { replaceInventory } from './inventory.store.ts';

export const sendInventoryEndpoint = (dependencies: Recognition) =>
  implementPrepared(sendInventory, admitDevice(dependencies), async ({ body, prepared }) => {
    const { database, clock } = dependencies;
    await replaceInventory(database.sql, prepared.device_id, body, clock.now());
  });
