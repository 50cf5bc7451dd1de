import { type LedgerEntry, listLedger, Problem } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import type { z } from 'zod';
import type { AccountDatabase } from '../store.ts';
import { findEntries } from './ledger.store.ts';

export const listLedgerEndpoint = (database: AccountDatabase) =>
  implement(listLedger, async ({ params, query, caller }) => {
    if (params.id !== caller.accountId) throw Problem.notFound();
    const scope = cursorScope(listLedger.operation, params);
    const [beforeSeq] = readCursor(query.cursor, scope, ['integer']) ?? [];
    const found = await findEntries(database, params.id, query.limit + 1, beforeSeq);
    const page = cutPage(found, { limit: query.limit, scope, position: (entry) => [Number(entry.seq)] });
    return { entries: page.rows.map(viewEntry), next_cursor: page.next_cursor };
  });

type EntryRow = Awaited<ReturnType<typeof findEntries>>[number];

function viewEntry(row: EntryRow): z.output<typeof LedgerEntry> {
  return {
    id: row.id,
    account_id: row.account_id,
    seq: Number(row.seq),
    kind: row.kind,
    amount: Number(row.amount),
    balance_after: Number(row.balance_after),
    description: row.description,
    expires_at: row.expires_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  };
}
