import { listGroups } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import type { OrganizationDatabase } from '../store.ts';
import { findGroups } from './group.store.ts';
import { viewGroup } from './group.view.ts';
import { scopeOf } from './scope.ts';

export const listGroupsEndpoint = ({ prisma }: OrganizationDatabase) =>
  implement(listGroups, async ({ query, caller }) => {
    const scope = cursorScope(listGroups.operation, query);
    const [after] = readCursor(query.cursor, scope, ['string']) ?? [];
    const found = await findGroups(prisma, scopeOf(caller), { limit: query.limit + 1, after, query: query.query });
    const page = cutPage(found, { limit: query.limit, scope, position: (group) => [group.id] });
    return { entries: page.rows.map(viewGroup), next_cursor: page.next_cursor };
  });
