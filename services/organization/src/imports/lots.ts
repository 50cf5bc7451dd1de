import type { EstateKind } from '@attribution/contracts';
import type { RowFields } from './row.ts';

/** A row of a file that is to be set up. */
export interface StagedRow {
  readonly row: number;
  readonly kind: EstateKind;
  readonly external_id: string;
  readonly parent: string | null;
  readonly unit: number;
  readonly fields: RowFields;
}

/** Rows of a lot that were read one after the other. */
export interface Piece {
  readonly groups: boolean;
  readonly lot: number;
  readonly piece: number;
  /** Of a group: what the file calls it. */
  readonly ref: string | null;
  readonly size: number;
  readonly rows: readonly StagedRow[];
}

/** Locations of a lot: in a file that has all of them before what is in them, nobody knows yet how each will grow. */
const maxUnits = 8;
/** Rows after which a lot takes no further location. */
const fullLot = 500;

export interface Lots {
  add(row: StagedRow): void;
  /** How many rows have been added since the last `take`. */
  readonly gathered: number;
  /** These rows, in pieces. */
  take(): Piece[];
}

/**
 * Gathers rows into lots of whole units, some locations each, in memory of the rows that are not taken yet and of units'
 * numbers. A group is a lot by itself.
 */
export function createLots(): Lots {
  const lotOf = new Map<number, number>();
  /** How many pieces of each lot have been taken. */
  const taken = new Map<number, number>();
  let gathered: StagedRow[] = [];
  let last = { lot: 0, units: 0, rows: 0 };

  function place(unit: number): number {
    const known = lotOf.get(unit);
    if (known !== undefined) {
      if (known === last.lot) last.rows++;
      return known;
    }
    if (last.units === maxUnits || last.rows >= fullLot) last = { lot: last.lot + 1, units: 0, rows: 0 };
    last.units++;
    last.rows++;
    lotOf.set(unit, last.lot);
    return last.lot;
  }

  const groupOf = (row: StagedRow): Piece => ({
    ...{ groups: true, lot: row.unit, piece: 0, ref: row.external_id, size: 1 },
    rows: [row],
  });

  function pieceOf(lot: number, rows: readonly StagedRow[]): Piece {
    const piece = taken.get(lot) ?? 0;
    taken.set(lot, piece + 1);
    return { groups: false, lot, piece, ref: null, size: rows.length, rows };
  }

  return {
    add(row) {
      if (row.kind !== 'group') place(row.unit);
      gathered.push(row);
    },
    get gathered() {
      return gathered.length;
    },
    take() {
      const groups = gathered.filter(({ kind }) => kind === 'group');
      const others = gathered.filter(({ kind }) => kind !== 'group');
      gathered = [];
      const byLot = Map.groupBy(others, ({ unit }) => lotOf.get(unit) ?? 0);
      return [...groups.map(groupOf), ...Array.from(byLot, ([lot, rows]) => pieceOf(lot, rows))];
    },
  };
}
