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

/** A row of what is in a group. */
export interface PlacedRow extends EstateRow {
  readonly group_id: string;
}

/** One kind of thing of the estate: where it is kept, and how it is shown and told of. */
export interface Kind<Row extends EstateRow = EstateRow, View extends object = object> {
  readonly name: EstateKind;
  readonly table: string;
  /** Its columns besides those that every kind has. */
  readonly columns: readonly string[];
  /** What its rows are read with besides columns, as `expression AS name` over the table `t`. */
  readonly computed?: string;
  readonly view: (row: Row) => View;
  readonly events: { readonly created: EventType; readonly updated: EventType; readonly deleted: EventType };
  /** What belongs to a row in a table of its own: cleared before the row is changed, written after that. */
  readonly parts?: {
    readonly clear: (tx: Sql, ids: readonly string[]) => Promise<void>;
    readonly write: (tx: Sql, rows: readonly Row[]) => Promise<void>;
  };
}

/** Columns of every kind. */
const common = ['id', 'account_id', 'external_id', 'aggregate_version', 'created_at', 'updated_at'];

/** All columns, each once. */
export const columnsOf = ({ columns }: Pick<Kind, 'columns'>) => [...common, ...columns];

/** The id of the group that a row is in: a group's own, or the one above. */
export const groupOf = (row: EstateRow | PlacedRow) => ('group_id' in row ? row.group_id : row.id);

/** What a file calls a thing: its external id, or our own id where it has none. */
export const refOf = ({ id, external_id }: EstateRow) => external_id ?? id;
