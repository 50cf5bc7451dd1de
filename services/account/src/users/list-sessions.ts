import { listSessions } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { findOpenSessions, refreshTokenDays, sessionDays, wireSessionId } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';

const day = 24 * 60 * 60 * 1000;

export const listSessionsEndpoint = ({ database, clock }: { database: AccountDatabase; clock: Clock }) =>
  implement(listSessions, async ({ query, caller }) => {
    const scope = cursorScope(listSessions.operation, query);
    const [before] = readCursor(query.cursor, scope, ['uuid']) ?? [];
    const daysAgo = (days: number) => new Date(clock.now().getTime() - days * day);
    const found = await findOpenSessions(database, caller.id, {
      limit: query.limit + 1,
      before,
      usedSince: daysAgo(refreshTokenDays),
      signedInSince: daysAgo(sessionDays),
    });
    const view = (row: (typeof found)[number]) => ({
      id: wireSessionId(row.id),
      account_id: row.account_id,
      current: row.id === caller.sessionId,
      ip: row.ip,
      user_agent: row.user_agent,
      created_at: row.created_at.toISOString(),
      last_used_at: row.last_used_at.toISOString(),
    });
    return cutPage(found, { limit: query.limit, scope, position: (row) => [row.id], view });
  });
