import type { Principal } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import type { Clock } from '@attribution/runtime';
import type { NoteChanges, WriteTransaction } from '@attribution/service';
import { type DeviceRow, findDevice, lockDevice } from './device.store.ts';
import { viewDevice } from './device.view.ts';

/** A request to change a device. */
interface Asked {
  readonly params: { readonly id: string };
  readonly caller: Principal;
  readonly transaction: WriteTransaction<Sql>;
}

/** A device that belongs to the caller's account. */
export type OwnDevice = DeviceRow & { readonly account_id: string };

/** Locks a device that the caller can see. Throws `not-found`. */
export async function lockVisible(tx: Sql, caller: Principal, id: string): Promise<OwnDevice> {
  const device = (await findDevice(tx, caller, id)) && (await lockDevice(tx, id));
  if (!device || device.account_id !== caller.accountId) throw Problem.notFound();
  return { ...device, account_id: device.account_id };
}

/** Changes a device under its lock, in the transaction of the request, and returns it as it then is. */
export async function changeDevice(
  clock: Clock,
  { params: { id }, caller, transaction }: Asked,
  change: (tx: Sql, device: OwnDevice, now: Date, note: NoteChanges) => Promise<void>,
) {
  return transaction(async (tx, note) => {
    const device = await lockVisible(tx, caller, id);
    const now = clock.now();
    await change(tx, device, now, note);
    const changed = await findDevice(tx, caller, id);
    if (!changed) throw Problem.notFound();
    return viewDevice(changed, now);
  });
}

/** Throws `conflict` for a device that is retired. */
export function requirePresent({ status }: Pick<DeviceRow, 'status'>): void {
  if (status === 'retired') throw new Problem('conflict', 'The device is retired.');
}
