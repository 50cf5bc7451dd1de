import { listAuditLog } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { findAuditRecords } from './audit.store.ts';
import { viewAuditRecord } from './audit.view.ts';

/** Both days are inclusive (spec §2.2), and times are kept to the millisecond. */
const startOf = (date: string) => new Date(`${date}T00:00:00.000Z`);
const endOf = (date: string) => new Date(`${date}T23:59:59.999Z`);

export const listAuditLogEndpoint = (database: AccountDatabase) =>
  implement(listAuditLog, async ({ query, caller }) => {
    const scope = cursorScope(listAuditLog.operation, query);
    const [before] = readCursor(query.cursor, scope, ['uuid']) ?? [];
    const found = await findAuditRecords(database, caller.accountId, {
      limit: query.limit + 1,
      before,
      action: query.action,
      actor: query.actor,
      from: query.from === undefined ? undefined : startOf(query.from),
      to: query.to === undefined ? undefined : endOf(query.to),
    });
    return cutPage(found, { limit: query.limit, scope, position: (row) => [row.id], view: viewAuditRecord });
  });
