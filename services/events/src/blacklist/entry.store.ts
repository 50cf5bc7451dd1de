import { type Principal, visibleGroupIds } from '@attribution/auth';
import { anyOf, type Sql } from '@attribution/database';
import type { Selectable } from 'kysely';
import type { BlacklistEntry } from '../generated/kysely/types.ts';
import { db } from '../store.ts';
import { leavesOut } from './rule.ts';

export type EntryRow = Selectable<BlacklistEntry>;

/** The entries that the caller sees: all of its account, or, for a narrowed caller, those of locations in its groups. */
function entriesOf(tx: Sql, caller: Principal) {
  const groups = visibleGroupIds(caller);
  const all = db(tx).selectFrom('blacklist_entries as entry').where('entry.account_id', '=', caller.accountId);
  if (!groups) return all;
  return all.where(({ exists, selectFrom }) =>
    exists(
      selectFrom('known_locations as place')
        .select('place.id')
        .whereRef('place.account_id', '=', 'entry.account_id')
        .whereRef('place.id', '=', 'entry.location_id')
        .where('place.gone', '=', false)
        .where('place.group_id', '=', anyOf(groups)),
    ),
  );
}

/** Newest first. */
export async function findEntries(
  tx: Sql,
  caller: Principal,
  page: {
    readonly before: string | undefined;
    readonly limit: number;
    readonly visitor_key?: string | undefined;
    readonly reason?: readonly EntryRow['reason'][] | undefined;
    readonly location_ids?: readonly string[] | undefined;
  },
): Promise<EntryRow[]> {
  let entries = entriesOf(tx, caller);
  if (page.before !== undefined) entries = entries.where('entry.id', '<', page.before);
  if (page.visitor_key !== undefined) entries = entries.where('entry.visitor_key', '=', page.visitor_key);
  if (page.reason) entries = entries.where('entry.reason', '=', anyOf(page.reason));
  if (page.location_ids) entries = entries.where('entry.location_id', '=', anyOf(page.location_ids));
  return entries.selectAll('entry').orderBy('entry.id', 'desc').limit(page.limit).execute();
}

export const findEntry = (tx: Sql, caller: Principal, id: string): Promise<EntryRow | undefined> =>
  entriesOf(tx, caller).where('entry.id', '=', id).selectAll('entry').executeTakeFirst();

/** False where the same visitor, location and time are there already. */
export async function insertEntry(tx: Sql, row: EntryRow): Promise<boolean> {
  const insertion = db(tx)
    .insertInto('blacklist_entries')
    .values(row)
    .onConflict((on) => on.doNothing());
  return (await insertion.returning('id').executeTakeFirst()) !== undefined;
}

export async function deleteEntry(tx: Sql, accountId: string, id: string): Promise<void> {
  await db(tx).deleteFrom('blacklist_entries').where('account_id', '=', accountId).where('id', '=', id).execute();
}

/** Marks the hours in which the visits began that an entry leaves out, as the visits themselves do. */
export async function markTouched(tx: Sql, accountId: string, id: string, at: Date): Promise<void> {
  await tx.$executeRawUnsafe(
    `INSERT INTO dirty_hours (account_id, location_id, hour, marked_at)
     SELECT DISTINCT visit.account_id, visit.location_id, date_trunc('hour', visit.entered_at, 'UTC'), $3::timestamptz
     FROM blacklist_entries AS entry JOIN visits AS visit ON ${leavesOut}
     WHERE entry.account_id = $1 AND entry.id = $2 AND visit.account_id = $1 AND visit.entered_at IS NOT NULL`,
    accountId,
    id,
    at,
  );
}
