import { listAccounts } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import { findMembershipPage, viewAccount } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';

export const listAccountsEndpoint = (database: AccountDatabase) =>
  implement(listAccounts, async ({ query, caller }) => {
    const scope = cursorScope(listAccounts.operation, query);
    const [joined, id] = readCursor(query.cursor, scope, ['time', 'string']) ?? [];
    const after = joined !== undefined && id !== undefined ? { joinedAt: new Date(joined), accountId: id } : undefined;
    const found = await findMembershipPage(database, caller.id, { limit: query.limit + 1, after });
    return cutPage(found, {
      limit: query.limit,
      scope,
      position: (row) => [row.joined_at.getTime(), row.account_id],
      view: ({ account, role, status, joined_at }) => ({
        account: viewAccount(account),
        role,
        status,
        joined_at: joined_at.toISOString(),
      }),
    });
  });
