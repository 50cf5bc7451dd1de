import { claimDevice, deviceClaimed, Problem, readClaimCode } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { implementWrite } from '@attribution/service';
import { assignDevice, findDevice, lockDevice, viewDevice } from '../devices/index.ts';
import type { DeviceDatabase } from '../store.ts';
import { endCodes, findOwners } from './code.store.ts';
import { countMiss, missWindow, openWindow } from './miss.store.ts';

interface Dependencies {
  readonly database: DeviceDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** The code leads to no device that this caller can claim. It is counted, and answered like any unknown code. */
class Missed extends Error {}

function tooMany({ opened_at }: { readonly opened_at: Date }, now: Date): Problem {
  const seconds = Math.max(1, Math.ceil((opened_at.getTime() + missWindow.seconds * 1000 - now.getTime()) / 1000));
  const headers = {
    'retry-after': `${seconds}`,
    'ratelimit-limit': `${missWindow.limit}`,
    'ratelimit-remaining': '0',
    'ratelimit-reset': `${seconds}`,
  };
  return new Problem('rate-limited', `Too many codes were wrong. Try again in ${seconds} s.`, headers);
}

export const claimDeviceEndpoint = (dependencies: Dependencies) => {
  const { database, outbox, clock } = dependencies;
  return implementWrite(claimDevice, database.sqlTransaction, async ({ body, caller, transaction }) => {
    const { accountId } = caller;
    const now = clock.now();
    const open = await openWindow(database.sql, accountId, now);
    if (open && open.misses >= missWindow.limit) throw tooMany(open, now);

    /** The device that the code is for, locked. */
    async function claimable(tx: Sql) {
      const code = readClaimCode(body.claim_code);
      const owners = code === undefined ? [] : await findOwners(tx, code, now);
      const [first] = owners;
      if (first?.alive) {
        const device = await lockDevice(tx, first.device_id);
        // Under the lock, because somebody else may have claimed it meanwhile.
        if (device?.status === 'manufactured' && (body.serial === undefined || body.serial === device.serial))
          return device;
        if (device?.account_id !== accountId) throw new Missed();
      } else if (!owners.some((owner) => owner.account_id === accountId)) {
        throw new Missed();
      }
      throw new Problem('conflict', 'body.claim_code: its device is in this account already.');
    }

    return transaction(async (tx) => {
      const device = await claimable(tx);
      const name = body.name ?? device.serial;
      await endCodes(tx, device.id, now);
      await assignDevice(tx, device.id, { accountId, name, now });
      const data = { device_id: device.id, account_id: accountId, serial: device.serial };
      await outbox.append(tx, newEvent(deviceClaimed, data, { accountId, occurredAt: now }));
      const claimed = await findDevice(tx, caller, device.id);
      if (!claimed) throw new Error(`${device.id} was claimed, and is not there`);
      return viewDevice(claimed, now);
    }).catch(async (error: unknown) => {
      if (!(error instanceof Missed)) throw error;
      const window = await countMiss(database.sql, accountId, now);
      // Several at once may have found the window open; those beyond its limit learn nothing.
      throw window.misses > missWindow.limit ? tooMany(window, now) : Problem.notFound();
    });
  });
};
