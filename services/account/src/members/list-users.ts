import { listUsers } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { findMembers, type MemberRow } from './member.store.ts';
import { viewMemberFor } from './member.view.ts';

export const listUsersEndpoint = (database: AccountDatabase) =>
  implement(listUsers, async ({ query, caller }) => {
    const scope = cursorScope(listUsers.operation, query);
    const [after] = readCursor(query.cursor, scope, ['string']) ?? [];
    const found = await findMembers(database, caller, { limit: query.limit + 1, after });
    const view = (row: MemberRow) => viewMemberFor(caller, row);
    return cutPage(found, { limit: query.limit, scope, position: (row) => [row.user_id], view });
  });
