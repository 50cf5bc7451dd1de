import { setImmediate as nextTurn } from 'node:timers/promises';
import { readItem } from '@attribution/http';
import type { z } from 'zod';
import { corrected, type Interval, type QuarantineReason, quarantineReason } from '../clock/index.ts';
import { fieldsSent } from './fields.ts';
import type { Counted, ItemKind, ItemRow, Judged } from './items.ts';

export interface Remark {
  readonly index: number;
  readonly detail: string;
}

/** An item of the right shape, and its place in the batch. */
export interface Shaped<Item> {
  readonly index: number;
  readonly item: Item;
  /** As it was sent. */
  readonly value: unknown;
}

/** Items that are read in one turn of the event loop, in which small batches of others wait. */
const perTurn = 100;

/** Judges the shape of each item by itself. */
export async function readItems<Item>(values: readonly unknown[], schema: z.ZodType<Item>) {
  const items: Shaped<Item>[] = [];
  const rejected: Remark[] = [];
  for (const [index, value] of values.entries()) {
    if (index > 0 && index % perTurn === 0) await nextTurn();
    const read = readItem(schema, value);
    if ('fault' in read) rejected.push({ index, detail: read.fault });
    else items.push({ index, item: read.item, value });
  }
  return { items, rejected };
}

/** An item that is to be kept. */
export interface Kept<Row, Fate = Judged> {
  readonly index: number;
  readonly row: Row & Fate;
  /** By the platform's clock. */
  readonly interval: Interval;
}

export const counts = <Row>(kept: Kept<Row>): kept is Kept<Row, Counted> => kept.row.quarantined === null;

const reasons: Readonly<Record<QuarantineReason, string>> = {
  future: 'is not over yet by the clock of the platform',
  too_long: 'lasts longer than 24 h',
  too_old: 'began more than 90 days before it was received',
};

/** Says why an item is in quarantine. */
export const quarantineDetail = (reason: QuarantineReason): string => `${reason}: it ${reasons[reason]}.`;

/** Judges what items refer to, and then their times. Of several with one id, the first that is right is kept. */
export function judgeItems<Item extends { readonly event_id: string }, Known, Row extends ItemRow>(
  kind: ItemKind<Item, Known, Row>,
  items: readonly Shaped<Item>[],
  known: Known,
  receipt: { readonly offset: number; readonly receivedAt: Date },
) {
  const { offset } = receipt;
  const receivedAt = receipt.receivedAt.getTime();
  const kept = new Map<string, Kept<Row>>();
  const rejected: Remark[] = [];
  const time = (timestamp: string) => corrected(Date.parse(timestamp), offset, receivedAt);
  for (const { index, item, value } of items) {
    if (kept.has(item.event_id)) continue;
    const detail = kind.faultOf(item, known);
    if (detail !== undefined) {
      rejected.push({ index, detail });
      continue;
    }
    const interval = kind.intervalOf(item, time);
    const quarantined = quarantineReason(interval, receivedAt) ?? null;
    const judged = quarantined
      ? { quarantined, start: null, end: null, item: fieldsSent(item, value) }
      : { quarantined, ...interval, item: null };
    kept.set(item.event_id, { index, interval, row: { ...kind.rowOf(item, known, time), ...judged } });
  }
  return { kept: [...kept.values()], rejected };
}
