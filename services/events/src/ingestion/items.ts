import type { z } from 'zod';
import type { Interval, QuarantineReason } from '../clock/index.ts';
import type { DirtyHour } from '../dirty/index.ts';

/** The device that sends, as the ingress knows it. */
export interface Device {
  readonly id: string;
  readonly accountId: string;
}

/** A time of a batch as the platform's clock would have shown it, in milliseconds since the epoch. */
export type Corrected = (timestamp: string) => number;

/** What every kind of item has as a row. */
export interface ItemRow {
  readonly event_id: string;
  readonly location_id: string;
}

/** An item that counts: its times by the platform's clock, in milliseconds since the epoch. */
export interface Counted {
  readonly quarantined: null;
  readonly start: number;
  readonly end: number;
  readonly item: null;
}

interface Quarantined {
  readonly quarantined: QuarantineReason;
  readonly start: null;
  readonly end: null;
  /** As it was sent. */
  readonly item: object;
}

/** What became of the times of an item. */
export type Judged = Counted | Quarantined;

/** A kind of item: how it is read, what it may refer to, and what is kept of it. */
export interface ItemKind<Item extends { readonly event_id: string }, Known, Row extends ItemRow> {
  readonly table: 'visits' | 'plays';
  readonly schema: z.ZodType<Item>;
  /** Finds what is known of what the items refer to. */
  readonly find: (device: Device, items: readonly Item[]) => Promise<Known>;
  /** Asks the owners of what the items refer to and is not known. Throws `unavailable` where they do not answer. */
  readonly ask: (device: Device, items: readonly Item[], known: Known) => Promise<void>;
  /** Why the item refers to what it may not; undefined if all is right. */
  readonly faultOf: (item: Item, known: Known) => string | undefined;
  readonly intervalOf: (item: Item, corrected: Corrected) => Interval;
  readonly rowOf: (item: Item, known: Known, corrected: Corrected) => Row;
  /** The hours whose figures an item changes. */
  readonly dirtied: (row: Row, interval: Interval) => readonly DirtyHour[];
}
