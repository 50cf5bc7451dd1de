import type { EstateKind } from '@attribution/contracts';
import type { RowFields } from './row.ts';

/** A record that was accepted: the import creates or updates one thing from it. */
export interface StagedRow {
  readonly row: number;
  readonly kind: EstateKind;
  readonly external_id: string;
  readonly parent: string | null;
  readonly unit: number;
  readonly fields: RowFields;
  /** The time zone of its coordinates, for a new location without another; it is not stored. */
  readonly zone?: string | undefined;
}

/** Rows of one batch that are written to the database together. */
export interface StagedRows {
  /** Whether the batch is a group. Groups and other batches are numbered apart. */
  readonly groups: boolean;
  readonly batch: number;
  /** Counts the writes of the batch, from 0. */
  readonly sequence: number;
  /** What the file calls the group; null for other batches. */
  readonly ref: string | null;
  readonly size: number;
  readonly rows: readonly StagedRow[];
}

/** Units of a batch. The limit is low because in a file that lists all locations first, their sizes are not known yet. */
const maxUnits = 8;
/** A batch with this many rows takes no further unit. */
const fullBatchRows = 500;

export interface Batches {
  add(row: StagedRow): void;
  /** Removes and returns the pending rows, grouped by batch. */
  take(): StagedRows[];
}

/**
 * Gathers rows into batches: a few whole units each. A group is a batch of its own, numbered by its row. Memory holds
 * the pending rows and the numbers of all units.
 */
export function createBatches(): Batches {
  const batchOf = new Map<number, number>();
  /** How often rows of each batch have been taken. */
  const taken = new Map<number, number>();
  let pending: StagedRow[] = [];
  let last = { batch: 0, units: 0, rows: 0 };

  function assign(unit: number): void {
    const known = batchOf.get(unit);
    if (known !== undefined) {
      if (known === last.batch) last.rows++;
      return;
    }
    if (last.units === maxUnits || last.rows >= fullBatchRows) last = { batch: last.batch + 1, units: 0, rows: 0 };
    last.units++;
    last.rows++;
    batchOf.set(unit, last.batch);
  }

  const groupBatch = (row: StagedRow): StagedRows => ({
    ...{ groups: true, batch: row.unit, sequence: 0, ref: row.external_id, size: 1 },
    rows: [row],
  });

  function nextRows(batch: number, rows: readonly StagedRow[]): StagedRows {
    const sequence = taken.get(batch) ?? 0;
    taken.set(batch, sequence + 1);
    return { groups: false, batch, sequence, ref: null, size: rows.length, rows };
  }

  return {
    add(row) {
      if (row.kind !== 'group') assign(row.unit);
      pending.push(row);
    },
    take() {
      const groups = pending.filter(({ kind }) => kind === 'group');
      const others = pending.filter(({ kind }) => kind !== 'group');
      pending = [];
      const byBatch = Map.groupBy(others, ({ unit }) => batchOf.get(unit) ?? 0);
      return [...groups.map(groupBatch), ...Array.from(byBatch, ([batch, rows]) => nextRows(batch, rows))];
    },
  };
}
