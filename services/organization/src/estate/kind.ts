import type { EstateKind, EventType } from '@attribution/contracts';
import type { Sql } from '@attribution/database';

/** A row of any kind. */
export interface EstateRow {
  readonly id: string;
  readonly account_id: string;
  readonly external_id: string | null;
  readonly aggregate_version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A row of a kind that is in a group. */
export interface PlacedRow extends EstateRow {
  readonly group_id: string;
}

/** One kind of thing of the estate: its table, its view and its events. */
export interface Kind<Row extends EstateRow = EstateRow, View extends object = object> {
  readonly name: EstateKind;
  readonly table: string;
  /** The columns besides those that every kind has. */
  readonly columns: readonly string[];
  /** What else is selected with a row, as `expression AS name` over the table `t`. */
  readonly computed?: string;
  readonly view: (row: Row) => View;
  readonly events: { readonly created: EventType; readonly updated: EventType; readonly deleted: EventType };
  /** Rows of another table that belong to a row: cleared before the row is updated, and written after that. */
  readonly nested?: {
    readonly clear: (tx: Sql, ids: readonly string[]) => Promise<void>;
    readonly write: (tx: Sql, rows: readonly Row[]) => Promise<void>;
  };
}

/** Columns of every kind. */
const common = ['id', 'account_id', 'external_id', 'aggregate_version', 'created_at', 'updated_at'];

/** All columns of a kind. */
export const columnsOf = ({ columns }: Pick<Kind, 'columns'>) => [...common, ...columns];

/** The id of the group that a row is in; a group's own id. */
export const groupOf = (row: EstateRow | PlacedRow) => ('group_id' in row ? row.group_id : row.id);

/** What a file calls a thing: its external id, or its id if it has none. */
export const refOf = ({ id, external_id }: EstateRow) => external_id ?? id;
