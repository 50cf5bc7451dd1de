import type { Input, Output, sendVisits } from '@attribution/contracts';
import { isUniqueViolation } from '@attribution/database';
import type { NewEvent, Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { clockOffset } from '../clock/index.ts';
import type { EventsDatabase } from '../store.ts';
import { findEventIds, keepingItems, type Receipt } from './item.store.ts';
import type { Counted, Device, ItemKind, ItemRow } from './items.ts';
import { counts, judgeItems, type Kept, quarantineDetail, readItems, type Shaped } from './sort-batch.ts';

export interface Dependencies {
  readonly database: EventsDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

type Kind<Item extends { readonly event_id: string }, Known, Row extends ItemRow> = ItemKind<Item, Known, Row> & {
  readonly told: (items: readonly Kept<Row, Counted>[], receipt: Receipt) => readonly NewEvent[];
};

/**
 * Takes a batch: each item is judged by its shape, whether it is known, what it refers to, and its times. What is right is
 * kept with the marks of the hours whose figures it changes, and told, by one statement.
 */
export async function receiveBatch<Item extends { readonly event_id: string }, Known, Row extends ItemRow>(
  dependencies: Dependencies,
  kind: Kind<Item, Known, Row>,
  device: Device,
  body: Input<typeof sendVisits>['body'],
): Promise<Output<typeof sendVisits>> {
  const receivedAt = dependencies.clock.now();
  const offset = clockOffset(receivedAt.getTime(), Date.parse(body.sent_at), body.clock_synced);
  const shaped = await readItems(body.items, kind.schema);
  const { kept, ...judged } = await keepNew(dependencies, kind, shaped.items, { device, receivedAt, offset });

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

/** How often a batch is judged again because another one has brought some of its items meanwhile. */
const mostTries = 5;

/** Keeps what is right of the items that the account does not have yet. Of two batches with an item one begins again, and finds it. */
async function keepNew<Item extends { readonly event_id: string }, Known, Row extends ItemRow>(
  { database, outbox }: Dependencies,
  kind: Kind<Item, Known, Row>,
  all: readonly Shaped<Item>[],
  receipt: Receipt,
) {
  for (let tries = 1; ; tries++) {
    const { items, known } = await findReferences(database, kind, receipt.device, all);
    const judged = judgeItems(kind, items, known, receipt);
    const { kept } = judged;
    if (kept.length === 0) return judged;
    const counting = kept.filter(counts);
    const hours = counting.flatMap(({ row, interval }) => kind.dirtied(row, interval));
    const rows = kept.map(({ row }) => row);
    const events = kind.told(counting, receipt).map((event) => ({ id: receipt.device.accountId, event }));
    try {
      await outbox.appendWith(database.sql, keepingItems(kind.table, rows, hours, receipt), events);
      return judged;
    } catch (error) {
      if (!isUniqueViolation(error) || tries === mostTries) throw error;
    }
  }
}

/** The items that the account does not have yet, and what they refer to. Nobody is asked for the sake of those that it has. */
async function findReferences<Item extends { readonly event_id: string }, Known, Row extends ItemRow>(
  { pool }: EventsDatabase,
  kind: ItemKind<Item, Known, Row>,
  device: Device,
  all: readonly Shaped<Item>[],
): Promise<{ readonly items: readonly Shaped<Item>[]; readonly known: Known }> {
  const valuesOf = (items: readonly Shaped<Item>[]) => items.map(({ item }) => item);
  const ids = all.map(({ item }) => item.event_id);
  const [stored, known] = await Promise.all([
    findEventIds(pool, kind.table, device.accountId, ids),
    kind.find(device, valuesOf(all)),
  ]);
  const items = all.filter(({ item }) => !stored.has(item.event_id));
  const lost = items.filter(({ item }) => kind.faultOf(item, known) !== undefined);
  if (lost.length === 0) return { items, known };
  await kind.ask(device, valuesOf(lost), known);
  return { items, known: await kind.find(device, valuesOf(items)) };
}
