import { listLocations } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import { scopeOf } from '../groups/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { findLocations } from './location.store.ts';
import { viewLocation } from './location.view.ts';

export const listLocationsEndpoint = ({ prisma }: OrganizationDatabase) =>
  implement(listLocations, async ({ query, caller }) => {
    const scope = cursorScope(listLocations.operation, query);
    const [after] = readCursor(query.cursor, scope, ['string']) ?? [];
    const wanted = { limit: query.limit + 1, after, groupIds: query.group_ids, query: query.query };
    const found = await findLocations(prisma, scopeOf(caller), wanted);
    const page = cutPage(found, { limit: query.limit, scope, position: (location) => [location.id] });
    return { entries: page.rows.map(viewLocation), next_cursor: page.next_cursor };
  });
