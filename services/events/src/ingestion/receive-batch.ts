import type { Input, Output, sendVisits } from '@attribution/contracts';
import type { NewEvent, Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { clockOffset } from '../clock/index.ts';
import { markDirty } from '../dirty/index.ts';
import type { EventsDatabase } from '../store.ts';
import { findEventIds, insertItems, type Receipt } from './item.store.ts';
import type { Counted, Device, ItemKind, ItemRow } from './items.ts';
import { counts, judgeItems, type Kept, quarantineDetail, readItems, type Shaped } from './sort-batch.ts';

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
  const { items, known } = await findReferences(database, kind, device, shaped.items);
  const judged = judgeItems(kind, items, known, { offset, receivedAt: receivedAt.getTime() });

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

/**
 * What the items refer to, and the items without those that the account has already, as far as it matters: a duplicate is
 * one whatever it refers to, so that nobody is asked for its sake. Otherwise the insertion tells which ones are new.
 */
async function findReferences<Item extends { readonly event_id: string }, Known, Row extends ItemRow>(
  { pool }: EventsDatabase,
  kind: ItemKind<Item, Known, Row>,
  device: Device,
  all: readonly Shaped<Item>[],
): Promise<{ readonly items: readonly Shaped<Item>[]; readonly known: Known }> {
  const valuesOf = (items: readonly Shaped<Item>[]) => items.map(({ item }) => item);
  const known = await kind.find(device, valuesOf(all));
  const isLost = ({ item }: Shaped<Item>) => kind.faultOf(item, known) !== undefined;
  if (!all.some(isLost)) return { items: all, known };
  const stored = await findEventIds(
    pool,
    kind.table,
    device.accountId,
    all.map(({ item }) => item.event_id),
  );
  const items = all.filter(({ item }) => !stored.has(item.event_id));
  const lost = items.filter(isLost);
  if (lost.length === 0) return { items, known };
  await kind.ask(device, valuesOf(lost), known);
  return { items, known: await kind.find(device, valuesOf(items)) };
}
