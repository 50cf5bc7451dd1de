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

/** What became of the times of an item. */
export interface Judged {
  readonly quarantined: QuarantineReason | null;
  /** Null in quarantine. */
  readonly start: string | null;
  readonly end: string | null;
  /** As it was sent, in quarantine. */
  readonly item: object | null;
}

/** A kind of item: how it is read, what it may refer to, and what is kept of it. */
export interface ItemKind<Item extends { readonly event_id: string }, Known, Row extends ItemRow> {
  readonly table: 'visits' | 'plays';
  /** The item, or what is wrong with its shape. */
  readonly read: (value: unknown) => Item | string;
  /** Finds what the items refer to. Throws `unavailable` where that cannot be told. */
  readonly learn: (device: Device, items: readonly Item[]) => Promise<Known>;
  /** Why the item refers to what it may not; undefined if all is right. */
  readonly faultOf: (item: Item, known: Known) => string | undefined;
  readonly intervalOf: (item: Item, corrected: Corrected) => Interval;
  readonly rowOf: (item: Item, known: Known, corrected: Corrected) => Row;
  /** The hours whose figures an item changes. */
  readonly dirtied: (row: Row, interval: Interval) => readonly DirtyHour[];
}
