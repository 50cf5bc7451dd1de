import { accountPurged } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/service';
import { deleteAccount } from './accounts/index.ts';
import { deleteCodesExpiredBefore, deleteCodesOf } from './codes/index.ts';
import { deleteChallengesBefore } from './mfa/index.ts';
import { deleteSessionsUnusedSince, refreshTokenDays } from './sessions/index.ts';
import type { AccountDatabase } from './store.ts';
import { deleteUser, lockStaleUsers } from './users/index.ts';

const day = 24 * 60 * 60 * 1000;
/** Days until a sign-up that was never verified is taken back (decision 13). */
const unverifiedDays = 7;
const batch = 100;

const before = (now: Date, days: number) => new Date(now.getTime() - days * day);

export async function purgeSpent(database: AccountDatabase, clock: Clock): Promise<void> {
  const now = clock.now();
  await deleteCodesExpiredBefore(database, before(now, 1));
  await deleteChallengesBefore(database.prisma, before(now, 1));
  await deleteSessionsUnusedSince(database, before(now, refreshTokenDays + 1));
}

/** Takes back sign-ups that were never verified, with the accounts they made. */
export async function purgeUnverified(database: AccountDatabase, outbox: Outbox, clock: Clock): Promise<void> {
  for (let more = true; more; ) {
    more = await database.transaction(async (tx) => {
      const now = clock.now();
      const stale = await lockStaleUsers(tx, before(now, unverifiedDays), batch);
      for (const { user_id, account_ids } of stale) {
        await deleteCodesOf(tx, user_id);
        await deleteUser(tx, user_id);
        for (const id of account_ids) await deleteAccount(tx, id);
      }
      const accountIds = stale.flatMap(({ account_ids }) => account_ids);
      const events = accountIds.map((id) =>
        newEvent(accountPurged, { account_id: id }, { accountId: id, occurredAt: now }),
      );
      await outbox.append(tx, ...events);
      return stale.length === batch;
    });
  }
}
