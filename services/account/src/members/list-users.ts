import { listUsers } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { findMembers } from './member.store.ts';
import { viewMember } from './member.view.ts';

export const listUsersEndpoint = (database: AccountDatabase) =>
  implement(listUsers, async ({ query, caller }) => {
    const scope = cursorScope(listUsers.operation, query);
    const [after] = readCursor(query.cursor, scope, ['string']) ?? [];
    const found = await findMembers(database, caller.accountId, { limit: query.limit + 1, after });
    const page = cutPage(found, { limit: query.limit, scope, position: (row) => [row.user_id] });
    return { entries: page.rows.map(viewMember), next_cursor: page.next_cursor };
  });
