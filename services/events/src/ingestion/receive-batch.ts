import type { Input, Output, sendVisits } from '@attribution/contracts';
import type { NewEvent, Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { clockOffset } from '../clock/index.ts';
import { markDirty } from '../dirty/index.ts';
import type { EventsDatabase } from '../store.ts';
import { findEventIds, insertItems, type Receipt } from './item.store.ts';
import type { Counted, Device, ItemKind, ItemRow } from './items.ts';
import { counts, judgeItems, type Kept, quarantineDetail, readItems } from './sort-batch.ts';

export interface Dependencies {
  readonly database: EventsDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/**
 * Takes a batch: each item is judged by its shape, whether it is known, what it refers to, and its times. What is right is
 * kept with the marks of the hours whose figures it changes, and told, in one transaction.
 */
export async function receiveBatch<Item extends { readonly event_id: string }, Known, Row extends ItemRow>(
  { database, outbox, clock }: Dependencies,
  kind: ItemKind<Item, Known, Row> & {
    readonly told: (items: readonly Kept<Row, Counted>[], receipt: Receipt) => readonly NewEvent[];
  },
  device: Device,
  body: Input<typeof sendVisits>['body'],
): Promise<Output<typeof sendVisits>> {
  const receivedAt = clock.now();
  const offset = clockOffset(receivedAt.getTime(), Date.parse(body.sent_at), body.clock_synced);
  const receipt: Receipt = { device, receivedAt, offset };

  const shaped = readItems(body.items, kind.schema);
  const ids = shaped.items.map(({ item }) => item.event_id);
  const stored = await findEventIds(database.sql, kind.table, device.accountId, ids);
  const fresh = shaped.items.filter(({ item }) => !stored.has(item.event_id));
  const items = fresh.map(({ item }) => item);
  const known = items.length > 0 ? await kind.learn(device, items) : undefined;
  const times = { offset, receivedAt: receivedAt.getTime() };
  const judged = judgeItems(kind, fresh, known as Known, times); // Without items nothing is looked up in it.

  const kept = await database.sqlTransaction(async (tx) => {
    if (judged.kept.length === 0) return [];
    const rows = judged.kept.map(({ row }) => row);
    const inserted = await insertItems(tx, kind.table, rows, receipt);
    const all = judged.kept.filter(({ row }) => inserted.has(row.event_id));
    const counting = all.filter(counts);
    const dirty = counting.flatMap(({ row, interval }) => kind.dirtied(row, interval));
    await markDirty(tx, device.accountId, dirty, receivedAt);
    await outbox.append(tx, ...kind.told(counting, receipt));
    return all;
  });

  const rejected = [...shaped.rejected, ...judged.rejected].toSorted((a, b) => a.index - b.index);
  return {
    accepted: kept.length,
    duplicates: body.items.length - kept.length - rejected.length,
    rejected,
    quarantined: kept.flatMap(({ index, row: { quarantined } }) =>
      quarantined ? [{ index, detail: quarantineDetail(quarantined) }] : [],
    ),
    received_at: receivedAt.toISOString(),
    clock_offset_ms: offset,
  };
}
