import { deviceOffline } from '@attribution/contracts';
import { newEvent } from '@attribution/messaging';
import { markSilent, type Silent } from './presence.store.ts';
import type { Recognition } from './recognize.ts';

/** Devices told in one transaction. */
const lot = 500;
const everyMs = 2_000;

const toldOffline = ({ device_id, account_id, last_seen_at }: Silent, now: Date) =>
  newEvent(
    deviceOffline,
    { device_id, account_id, last_seen_at: last_seen_at.toISOString() },
    { accountId: account_id, occurredAt: now },
  );

/** Tells once of each active device that has fallen silent. */
export const tellOffline = ({ database, outbox, clock }: Omit<Recognition, 'presence'>) => ({
  name: 'tell-offline-devices',
  every: everyMs,
  async run(stopping: AbortSignal): Promise<void> {
    for (let told = lot; told === lot && !stopping.aborted; ) {
      told = await database.sqlTransaction(async (tx) => {
        const now = clock.now();
        const silent = await markSilent(tx, now, lot);
        await outbox.append(tx, ...silent.map((one) => toldOffline(one, now)));
        return silent.length;
      });
    }
  },
});
