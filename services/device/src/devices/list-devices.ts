import { listDevices } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { DeviceDatabase } from '../store.ts';
import { findDevices, type SeenDevice } from './device.store.ts';
import { viewDevice } from './device.view.ts';

export const listDevicesEndpoint = ({ database, clock }: { database: DeviceDatabase; clock: Clock }) =>
  implement(listDevices, async ({ query, caller }) => {
    const scope = cursorScope(listDevices.operation, query);
    const now = clock.now();
    const found = await findDevices(database.sql, caller, {
      after: readCursor(query.cursor, scope, ['time', 'string']),
      limit: query.limit + 1,
      groupIds: query.group_ids,
      locationIds: query.location_ids,
      statuses: query.status,
      online: query.online && query.online === 'true',
      text: query.query,
      now,
    });
    const position = ({ created_at, id }: SeenDevice) => [created_at.getTime(), id];
    return cutPage(found, { limit: query.limit, scope, position, view: (row) => viewDevice(row, now) });
  });
