import type { Principal } from '@attribution/auth';
import { listQuarantine, Problem, type QuarantinedItem } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { z } from 'zod';
import type { EventsDatabase } from '../store.ts';
import { keptSince } from './kept.ts';
import { findQuarantined, type QuarantinedRow } from './quarantine.store.ts';

/** What a device sends may be of any place, so groups do not narrow it. */
function refuseNarrowed({ groups }: Principal): void {
  if (groups !== null)
    throw new Problem('forbidden', 'Items in quarantine are for callers who are not narrowed to groups.');
}

const view = (row: QuarantinedRow): z.output<typeof QuarantinedItem> => ({
  ...row,
  received_at: row.received_at.toISOString(),
});

export const listQuarantineEndpoint = ({
  database: { sql },
  clock,
}: {
  readonly database: EventsDatabase;
  readonly clock: Clock;
}) =>
  implement(
    listQuarantine,
    async ({ query, caller }) => {
      const { limit, device_id: deviceId } = query;
      const scope = cursorScope(listQuarantine.operation, query);
      const before = readCursor(query.cursor, scope, ['time', 'uuid', 'string']);
      const since = keptSince(clock.now());
      const found = await findQuarantined(sql, caller.accountId, { deviceId, since, before, limit: limit + 1 });
      const position = (row: QuarantinedRow) => [row.received_at.getTime(), row.event_id, row.kind];
      return cutPage(found, { limit, scope, position, view });
    },
    refuseNarrowed,
  );
