import { accountPurged } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import { type Clock, readConfig } from '@attribution/runtime';
import { type Purge, purgeOf } from '@attribution/service';
import { deleteAccount } from './accounts/index.ts';
import { auditRetention, oldRecords } from './audit/index.ts';
import { deleteCodesOf, expiredCodes } from './codes/index.ts';
import { oldGuesses } from './guesses/index.ts';
import { endedBudgets } from './mail/index.ts';
import { expiredChallenges } from './mfa/index.ts';
import { rangeDays, unusedRanges } from './notices/index.ts';
import { refreshTokenDays, unusedSessions } from './sessions/index.ts';
import type { AccountDatabase } from './store.ts';
import { countStaleUsers, deleteUser, lockStaleUsers } from './users/index.ts';

interface HousekeepingDependencies {
  readonly database: AccountDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const day = 24 * 60 * 60 * 1000;
/** Days after which a sign-up that was never verified is deleted (decision 13). */
const unverifiedDays = 7;
const batch = 100;

const before = (now: Date, days: number) => new Date(now.getTime() - days * day);

/** Purges rows that have been expired for so long that they are no longer needed. */
function spent({ pool }: AccountDatabase, clock: Clock): Purge {
  const daysAgo = (days: number) => () => before(clock.now(), days);
  return purgeOf(pool, [
    { ...expiredCodes, before: daysAgo(1) },
    { ...expiredChallenges, before: daysAgo(1) },
    { ...oldGuesses, before: daysAgo(1) },
    { ...endedBudgets, before: daysAgo(0) },
    { ...unusedRanges, before: daysAgo(rangeDays) },
    { ...unusedSessions, before: daysAgo(refreshTokenDays + 1) },
  ]);
}

/** Purges sign-ups that were never verified, and the accounts that they created. */
function unverified({ database, outbox, clock }: HousekeepingDependencies): Purge {
  /** Deletes one batch. */
  const purgeSome = () =>
    database.transaction(async (tx) => {
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
      return { users: stale.length, accounts: accountIds.length };
    });

  return {
    count: () => countStaleUsers(database, before(clock.now(), unverifiedDays)),
    async purge() {
      const purged = { users: 0, accounts: 0 };
      for (let more = true; more; ) {
        const { users, accounts } = await purgeSome();
        purged.users += users;
        purged.accounts += accounts;
        more = users === batch;
      }
      return purged;
    },
  };
}

/** Audit records are kept as long as a setting says, which is read when the job runs. */
const audited = ({ database, clock, environment }: HousekeepingDependencies): Purge =>
  oldRecords(database, () => before(clock.now(), readConfig(auditRetention, environment).AUDIT_LOG_DAYS));

/** The purges of this service, by job name. */
export const housekeeping = (deps: HousekeepingDependencies) => ({
  'purge-spent': spent(deps.database, deps.clock),
  'purge-unverified': unverified(deps),
  'purge-audit-log': audited(deps),
});
