import { type Fault, listDeviceFaults, Problem } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import type { z } from 'zod';
import { findDevice } from '../devices/index.ts';
import type { DeviceDatabase } from '../store.ts';
import { type FaultRow, findFaults } from './fault.store.ts';

const viewFault = (row: FaultRow): z.output<typeof Fault> => ({
  event_id: row.event_id,
  code: row.code,
  severity: row.severity,
  component: row.component,
  detail: row.detail,
  occurred_at: row.occurred_at.toISOString(),
  resolved: row.resolved,
  received_at: row.received_at.toISOString(),
});

export const listFaultsEndpoint = ({ sql }: DeviceDatabase) =>
  implement(listDeviceFaults, async ({ params, query, caller }) => {
    const scope = cursorScope(`${listDeviceFaults.operation} ${params.id}`, query);
    const before = readCursor(query.cursor, scope, ['integer', 'uuid']);
    const device = await findDevice(sql, caller, params.id);
    if (!device) throw Problem.notFound();
    const open = query.open && query.open === 'true';
    const found = await findFaults(sql, device.id, { before, open, limit: query.limit + 1 });
    const position = ({ occurred_at, event_id }: FaultRow) => [occurred_at.getTime(), event_id];
    return cutPage(found, { limit: query.limit, scope, position, view: viewFault });
  });
