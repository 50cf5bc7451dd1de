import { listAuditLog } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { findAuditRecords } from './audit.store.ts';
import { viewAuditRecord } from './audit.view.ts';

const day = 24 * 60 * 60 * 1000;
const startOf = (date: string) => new Date(`${date}T00:00:00.000Z`);

export const listAuditLogEndpoint = (database: AccountDatabase) =>
  implement(listAuditLog, async ({ query, caller }) => {
    const scope = cursorScope(listAuditLog.operation, query);
    const [before] = readCursor(query.cursor, scope, ['string']) ?? [];
    const found = await findAuditRecords(database, caller.accountId, {
      limit: query.limit + 1,
      before,
      action: query.action,
      actor: query.actor,
      from: query.from === undefined ? undefined : startOf(query.from),
      // Both days are inclusive (spec §2.2).
      until: query.to === undefined ? undefined : new Date(startOf(query.to).getTime() + day),
    });
    const page = cutPage(found, { limit: query.limit, scope, position: (row) => [row.id] });
    return { entries: page.rows.map(viewAuditRecord), next_cursor: page.next_cursor };
  });
