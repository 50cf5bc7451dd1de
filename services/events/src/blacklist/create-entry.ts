import { createBlacklistEntry, Problem } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { implementWrite } from '@attribution/service';
import type { Dependencies } from './dependencies.ts';
import { type EntryRow, insertEntry, markTouched } from './entry.store.ts';
import { viewEntry } from './entry.ts';
import { lockBlacklist } from './lock.store.ts';
import { requireLocation } from './require-location.ts';

const instantOf = (timestamp: string | null) => (timestamp === null ? null : new Date(timestamp));

export const createEntryEndpoint = ({ database, clock, ask }: Dependencies) =>
  implementWrite(createBlacklistEntry, database.sqlTransaction, async ({ body, caller, transaction }) => {
    const { location_id, visitor_key, reason, note } = body;
    if (location_id !== null) await requireLocation(database.sql, ask.estate, caller, location_id);
    else if (caller.groups !== null)
      throw new Problem('forbidden', 'Your access is narrowed to groups: name a location of these.');
    const row: EntryRow = {
      ...{ account_id: caller.accountId, id: newId('blacklist_entry'), visitor_key, reason, location_id, note },
      ...{ valid_from: instantOf(body.from), valid_until: instantOf(body.until) },
      ...{ created_by: caller.id, created_at: clock.now() },
    };
    return transaction(async (tx) => {
      await lockBlacklist(tx, row.account_id);
      if (!(await insertEntry(tx, row)))
        throw new Problem('conflict', `${visitor_key} is on the blacklist already, there and for that time.`);
      await markTouched(tx, row.account_id, row.id, row.created_at);
      return viewEntry(row);
    });
  });
