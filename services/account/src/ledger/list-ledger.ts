import { listLedger, Problem } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { findEntries } from './ledger.store.ts';
import { viewEntry } from './views.ts';

export const listLedgerEndpoint = (database: AccountDatabase) =>
  implement(listLedger, async ({ params, query, caller }) => {
    if (params.id !== caller.accountId) throw Problem.notFound();
    const scope = cursorScope(listLedger.operation, params);
    const [beforeSeq] = readCursor(query.cursor, scope, ['integer']) ?? [];
    const found = await findEntries(database, params.id, query.limit + 1, beforeSeq);
    return cutPage(found, { limit: query.limit, scope, position: (entry) => [Number(entry.seq)], view: viewEntry });
  });
