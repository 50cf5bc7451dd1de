import { listBlacklist } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import type { Dependencies } from './dependencies.ts';
import { type EntryRow, findEntries } from './entry.store.ts';
import { viewEntry } from './entry.ts';

export const listEntriesEndpoint = ({ database: { sql } }: Dependencies) =>
  implement(listBlacklist, async ({ query, caller }) => {
    const scope = cursorScope(listBlacklist.operation, query);
    const [before] = readCursor(query.cursor, scope, ['string']) ?? [];
    const found = await findEntries(sql, caller, { ...query, before, limit: query.limit + 1 });
    const position = ({ id }: EntryRow) => [id];
    return cutPage(found, { limit: query.limit, scope, position, view: viewEntry });
  });
