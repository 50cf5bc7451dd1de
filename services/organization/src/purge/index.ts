import { accountPurged } from '@attribution/contracts';
import { afterCommit } from '@attribution/database';
import { type Outbox, on } from '@attribution/messaging';
import type { Clock } from '@attribution/service';
import { deleteSome, tellGone } from '../estate/index.ts';
import { findOfAccount, forgetImport } from '../imports/index.ts';
import type { OrganizationDatabase, Tx } from '../store.ts';
import { kinds } from '../tree.ts';
import { findPurge, forgetPurge, notePurge } from './purge.store.ts';

export const purgeJob = 'purge-estates';

/** Rows of one transaction. */
const atOnce = 500;

/** The estate of a purged account goes in parts, as it may be large. */
export const onAccountPurged = (wake: () => void) =>
  on(accountPurged, async (tx: Tx, { data, occurredAt }) => {
    await notePurge(tx, data.account_id, occurredAt);
    afterCommit(tx, wake);
  });

interface PurgeParts {
  readonly database: OrganizationDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

export const purgeEstates = (parts: PurgeParts) => ({
  name: purgeJob,
  every: 60_000,
  async run() {
    const { sql } = parts.database;
    for (let id = await findPurge(sql); id !== undefined; id = await findPurge(sql)) {
      for (const job of await findOfAccount(sql, id)) await forgetImport(parts, job);
      while (await purgeSome(parts, id));
    }
  },
});

/** Deletes some of what an account has left, children before parents, and tells of it; false when nothing was left. */
async function purgeSome({ database, outbox, clock }: PurgeParts, accountId: string): Promise<boolean> {
  const now = clock.now();
  return database.sqlTransaction(async (tx) => {
    for (const kind of kinds.toReversed()) {
      const gone = await deleteSome(tx, kind, accountId, atOnce);
      if (gone.length === 0) continue;
      await outbox.append(tx, ...gone.map((row) => tellGone(kind, row, { now, traceparent: null })));
      return true;
    }
    await forgetPurge(tx, accountId);
    return false;
  });
}
