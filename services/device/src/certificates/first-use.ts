import type { Outbox } from '@attribution/messaging';
import { lockDevice } from '../devices/index.ts';
import type { DeviceDatabase } from '../store.ts';
import { lockLive, markUsed, revoke } from './certificate.store.ts';
import { revokedEvents } from './told.ts';

interface Dependencies {
  readonly database: DeviceDatabase;
  readonly outbox: Outbox;
}

/**
 * A certificate is used for the first time: it takes the place of the device's former one, which is revoked. Returns whether
 * it is still in force.
 */
export async function useFirst(
  { database, outbox }: Dependencies,
  used: { readonly deviceId: string; readonly fingerprint: string },
  now: Date,
): Promise<boolean> {
  return database.sqlTransaction(async (tx) => {
    const device = await lockDevice(tx, used.deviceId);
    const certificate = await lockLive(tx, used.fingerprint);
    if (!device?.account_id || !certificate) return false;
    if (certificate.used_at) return true;
    await markUsed(tx, used.fingerprint, now);
    const former = await revoke(tx, { deviceId: device.id, except: used.fingerprint }, 'superseded', now);
    const about = { deviceId: device.id, accountId: device.account_id };
    await outbox.append(tx, ...revokedEvents(about, former, 'superseded', now));
    return true;
  });
}
