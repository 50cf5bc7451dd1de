import { isDeepStrictEqual } from 'node:util';
import { changeDeviceConfig, deviceConfigChanged, Problem } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { implementWrite } from '@attribution/service';
import { lockVisible, requirePresent } from '../devices/index.ts';
import type { DeviceDatabase } from '../store.ts';
import { readDesired } from './desired.ts';
import { mergePatch } from './merge-patch.ts';
import { replaceDesired } from './shadow.store.ts';

interface Dependencies {
  readonly database: DeviceDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

export const changeConfigEndpoint = ({ database, outbox, clock }: Dependencies) =>
  implementWrite(changeDeviceConfig, database.sqlTransaction, async ({ params, body, caller, transaction }) =>
    transaction(async (tx, note) => {
      const device = await lockVisible(tx, caller, params.id);
      requirePresent(device);
      const { desired_version: current, applied_version, account_id: accountId } = device;
      if (body.desired_version !== undefined && body.desired_version !== current)
        throw new Problem('conflict', `body.desired_version: the current one is ${current}.`);
      const desired = mergePatch(device.desired, body.desired);
      const { heartbeatInterval } = readDesired(desired);
      const changed = !isDeepStrictEqual(desired, device.desired);
      const desiredVersion = changed ? current + 1 : current;
      note({ changed: changed ? ['desired'] : [] });
      if (changed) {
        const now = clock.now();
        await replaceDesired(tx, device.id, { desired, desiredVersion, heartbeatInterval, now });
        const data = { device_id: device.id, account_id: accountId, desired_version: desiredVersion };
        await outbox.append(tx, newEvent(deviceConfigChanged, data, { accountId, occurredAt: now }));
      }
      return {
        desired,
        desired_version: desiredVersion,
        applied_version,
        in_sync: applied_version === desiredVersion,
      };
    }),
  );
