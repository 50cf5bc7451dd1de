import { matchScreens } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { countByGroup, readPage, scopeOf } from '../estate/index.ts';
import { screenKind } from '../screens/index.ts';
import type { OrganizationDatabase } from '../store.ts';

export const matchScreensEndpoint = (database: OrganizationDatabase) =>
  implement(matchScreens, async ({ query, caller }) => {
    const [counts, page] = await Promise.all([
      countByGroup(database.sql, screenKind, scopeOf(caller), query),
      readPage(database, screenKind, matchScreens, caller, query),
    ]);
    return {
      total: counts.reduce((sum, { count }) => sum + count, 0),
      groups: counts.map(({ group_id, count }) => ({ group_id, screen_count: count })),
      ...page,
    };
  });
