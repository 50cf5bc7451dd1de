import { accountPurged } from '@attribution/contracts';
import { afterCommit } from '@attribution/database';
import { type Outbox, on } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { countOf, deleteSome, deletionEvent } from '../estate/index.ts';
import { discardImport, findOfAccount } from '../imports/index.ts';
import { deleteLimits } from '../limits/index.ts';
import type { OrganizationDatabase, Tx } from '../store.ts';
import { kinds } from '../tree.ts';
import { deletePurge, findOldestPurge, findPurges, insertPurge } from './purge.store.ts';

export const purgeJob = 'purge-estates';

/** Rows that one transaction deletes. */
const rowsPerTransaction = 500;

/** Only notes the account: its estate may be large, so a job deletes it in many transactions. */
export const onAccountPurged = (wake: () => void) =>
  on(accountPurged, async (tx: Tx, { data, occurredAt }) => {
    await insertPurge(tx, data.account_id, occurredAt);
    afterCommit(tx, wake);
  });

interface PurgeDependencies {
  readonly database: OrganizationDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** Deletes the estates of purged accounts. */
export function estatePurge(deps: PurgeDependencies) {
  const { sql } = deps.database;
  return {
    async count() {
      const accounts = await findPurges(sql);
      const counts: Record<string, number> = { estate_purges: accounts.length };
      for (const kind of kinds.toReversed()) counts[kind.table] = await countOf(sql, kind, accounts);
      return counts;
    },
    async purge() {
      const counts: Record<string, number> = { estate_purges: 0 };
      for (const { table } of kinds.toReversed()) counts[table] = 0;
      for (let id = await findOldestPurge(sql); id !== undefined; id = await findOldestPurge(sql)) {
        for (const job of await findOfAccount(sql, id)) await discardImport(deps, job);
        for (let deleted = await purgeSome(deps, id); deleted; deleted = await purgeSome(deps, id))
          counts[deleted.table] = (counts[deleted.table] ?? 0) + deleted.rows;
        counts.estate_purges = (counts.estate_purges ?? 0) + 1;
      }
      return counts;
    },
  };
}

/** Deletes some rows of an account, children before parents, and appends their events. Undefined if none was left. */
async function purgeSome({ database, outbox, clock }: PurgeDependencies, accountId: string) {
  const now = clock.now();
  return database.sqlTransaction(async (tx) => {
    for (const kind of kinds.toReversed()) {
      const rows = await deleteSome(tx, kind, accountId, rowsPerTransaction);
      if (rows.length === 0) continue;
      await outbox.append(tx, ...rows.map((row) => deletionEvent(kind, row, { now, traceparent: null })));
      return { table: kind.table, rows: rows.length };
    }
    await deleteLimits(tx, accountId);
    await deletePurge(tx, accountId);
    return undefined;
  });
}
