import { deviceFaultOpened, deviceFaultResolved, sendFaults, unknownDevice } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { newEvent } from '@attribution/messaging';
import { implementPrepared } from '@attribution/service';
import { lockDevice } from '../devices/index.ts';
import { admitDevice, type Recognition } from '../presence/index.ts';
import { type FaultRow, findSubjects, insertFaults, setOpen } from './fault.store.ts';
import { sortItems, subjectOf } from './fault.ts';

interface Owner {
  readonly id: string;
  readonly account_id: string;
}

const told = ({ id, account_id }: Owner, row: FaultRow, opened: boolean, now: Date) => {
  const { event_id, code, component, severity } = row;
  const data = {
    ...{ device_id: id, account_id, event_id, code, component },
    occurred_at: row.occurred_at.toISOString(),
  };
  const context = { accountId: account_id, occurredAt: now };
  return opened
    ? newEvent(deviceFaultOpened, { ...data, severity }, context)
    : newEvent(deviceFaultResolved, data, context);
};

/** Finds out anew which faults of these codes are open, and returns the events of what has changed. */
async function settle(tx: Sql, device: Owner, codes: readonly string[], now: Date) {
  const { newest, open } = await findSubjects(tx, device.id, codes);
  const openBefore = new Map(open.map((row) => [subjectOf(row), row]));
  const [opened, closed, events] = [[] as FaultRow[], [] as FaultRow[], [] as ReturnType<typeof told>[]];
  for (const row of newest) {
    const before = openBefore.get(subjectOf(row));
    const isOpen = !row.resolved;
    if (before && before.event_id !== row.event_id) closed.push(before);
    if (isOpen && before?.event_id !== row.event_id) opened.push(row);
    if (isOpen !== (before !== undefined)) events.push(told(device, row, isOpen, now));
  }
  await setOpen(tx, device.id, { opened, closed });
  return events;
}

export const sendFaultsEndpoint = (dependencies: Recognition) =>
  implementPrepared(sendFaults, admitDevice(dependencies), async ({ body, prepared }) => {
    const { database, outbox, clock } = dependencies;
    const { items, duplicates, rejected } = sortItems(body.faults);
    return database.sqlTransaction(async (tx) => {
      const device = await lockDevice(tx, prepared.device_id);
      if (!device?.account_id) throw unknownDevice();
      const now = clock.now();
      const owner = { id: device.id, account_id: device.account_id };
      const kept = await insertFaults(tx, owner, items, now);
      const codes = items.filter(({ event_id }) => kept.has(event_id)).map(({ code }) => code);
      if (kept.size > 0) await outbox.append(tx, ...(await settle(tx, owner, [...new Set(codes)], now)));
      return {
        accepted: kept.size,
        duplicates: duplicates + items.length - kept.size,
        rejected: [...rejected],
        quarantined: [],
        received_at: now.toISOString(),
        clock_offset_ms: 0,
      };
    });
  });
