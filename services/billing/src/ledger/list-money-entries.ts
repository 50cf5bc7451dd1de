import { listMoneyEntries } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import type { BillingDatabase } from '../store.ts';
import { findEntries } from './money-entry.store.ts';

export const listMoneyEntriesEndpoint = (database: BillingDatabase) =>
  implement(listMoneyEntries, async ({ query, caller }) => {
    const scope = cursorScope(listMoneyEntries.operation);
    const [beforeSeq] = readCursor(query.cursor, scope, ['integer']) ?? [];
    const found = await findEntries(database, caller.accountId, { limit: query.limit + 1, beforeSeq });
    const view = ({ account_id: _account, dispute_id: _dispute, ...entry }: (typeof found)[number]) => ({
      ...entry,
      balance_after_cents: Number(entry.balance_after_cents),
      created_at: entry.created_at.toISOString(),
    });
    return cutPage(found, { limit: query.limit, scope, position: ({ seq }) => [seq], view });
  });
