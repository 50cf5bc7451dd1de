import { accountPurged } from '@attribution/contracts';
import { afterCommit } from '@attribution/database';
import { type Outbox, on } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { countOf, deleteSome, tellGone } from '../estate/index.ts';
import { findOfAccount, forgetImport } from '../imports/index.ts';
import type { OrganizationDatabase, Tx } from '../store.ts';
import { kinds } from '../tree.ts';
import { findPurge, findPurges, forgetPurge, notePurge } from './purge.store.ts';

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

/** Estates of accounts that are gone. */
export function purgedEstates(parts: PurgeParts) {
  const { sql } = parts.database;
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
      for (let id = await findPurge(sql); id !== undefined; id = await findPurge(sql)) {
        for (const job of await findOfAccount(sql, id)) await forgetImport(parts, job);
        for (let gone = await purgeSome(parts, id); gone; gone = await purgeSome(parts, id))
          counts[gone.table] = (counts[gone.table] ?? 0) + gone.rows;
        counts.estate_purges = (counts.estate_purges ?? 0) + 1;
      }
      return counts;
    },
  };
}

/** Deletes some of what an account has left, children before parents, and tells of it; undefined when nothing was left. */
async function purgeSome({ database, outbox, clock }: PurgeParts, accountId: string) {
  const now = clock.now();
  return database.sqlTransaction(async (tx) => {
    for (const kind of kinds.toReversed()) {
      const gone = await deleteSome(tx, kind, accountId, atOnce);
      if (gone.length === 0) continue;
      await outbox.append(tx, ...gone.map((row) => tellGone(kind, row, { now, traceparent: null })));
      return { table: kind.table, rows: gone.length };
    }
    await forgetPurge(tx, accountId);
    return undefined;
  });
}
