import type { EstateKind } from '@attribution/contracts';
import { parentKinds, type ReadRow } from './row.ts';

/**
 * What belongs together in a file, told as its rows go by, in memory of their ids alone. A unit is what is set up whole:
 * a location with what is in it, or a group by itself. It is named by the number of its first row.
 */
export interface Outline {
  /** Where the row belongs. Rows of one thing, and rows before their parent's, are at fault. */
  place(row: number, read: Pick<ReadRow, 'kind' | 'ref' | 'parent' | 'fields'>): Place;
  /** Whether the file has had that thing. */
  has(kind: EstateKind, ref: string): boolean;
  /** A zone that is there already, in which location; undefined: there is none. */
  adopt(zone: string, location: string | undefined): void;
  /** Rows whose fault showed in a later one. */
  late(): readonly Late[];
}

export interface Place {
  /** undefined: not known. */
  readonly unit: number | undefined;
  readonly reason?: string;
}

export interface Late extends Seen {
  readonly reason: string;
  /** Its parent came after it: no fault where that is there already. */
  readonly parent?: { readonly kind: EstateKind; readonly ref: string };
}

interface Seen {
  readonly row: number;
  readonly kind: EstateKind;
  readonly ref: string;
  readonly unit: number | undefined;
}

/** Rows that one location may have: they are set up in one transaction. */
const maxUnit = 10_000;

export function createOutline(): Outline {
  const seen = new Map<string, Seen>();
  /** Units of locations, by what the file calls them. */
  const units = new Map<string, number>();
  /** Rows that came before their parent, by its name. */
  const waiting = new Map<string, Seen[]>();
  const late: Late[] = [];
  const adopted = new Map<string, string>();
  const devices = new Map<string, number>();
  /** How many rows each unit has. */
  const sizes = new Map<number, number>();
  const name = (kind: EstateKind, ref: string) => `${kind} ${ref}`;

  function wait(parent: string, child: Seen): void {
    const others = waiting.get(parent);
    if (others) others.push(child);
    else waiting.set(parent, [child]);
  }

  function unitOfLocation(ref: string, row: number): number {
    const known = units.get(ref);
    if (known === undefined) units.set(ref, row);
    return known ?? row;
  }

  function unitOfZone(ref: string, row: number): number | undefined {
    const zone = seen.get(name('zone', ref));
    if (zone) return zone.unit;
    const location = adopted.get(ref);
    return location === undefined ? undefined : unitOfLocation(location, row);
  }

  function unitOf(row: number, { kind, ref, parent }: Pick<ReadRow, 'kind' | 'ref' | 'parent'>): number | undefined {
    if (kind === 'group') return row;
    if (kind === 'location') return ref === '' ? undefined : unitOfLocation(ref, row);
    if (parent === undefined) return undefined;
    if (kind === undefined) return unitOfUnknown(row, ref, parent);
    return parentKinds[kind] === 'zone' ? unitOfZone(parent, row) : unitOfLocation(parent, row);
  }

  /** Counts a row to its unit. */
  function overfills(unit: number | undefined): boolean {
    if (unit === undefined) return false;
    const size = (sizes.get(unit) ?? 0) + 1;
    sizes.set(unit, size);
    return size > maxUnit;
  }

  /** A row of no known kind may be anything: what its parent is tells most. */
  function unitOfUnknown(row: number, ref: string, parent: string): number | undefined {
    const known = units.get(parent) ?? unitOfZone(parent, row);
    if (known !== undefined) return known;
    if (!seen.has(name('group', parent))) return unitOfLocation(parent, row);
    return ref === '' ? undefined : unitOfLocation(ref, row);
  }

  function faultOf(
    row: number,
    { kind, ref, fields }: Pick<ReadRow, 'kind' | 'ref' | 'fields'>,
    unit: number | undefined,
  ): string | undefined {
    if (kind === undefined || ref === '') return undefined;
    const before = seen.get(name(kind, ref));
    if (before) {
      // Which of both locations the rows below it mean is not to be told.
      if (kind === 'zone' && before.unit !== undefined && unit !== undefined && before.unit !== unit)
        late.push({ ...before, reason: `external_id: row ${row} is of the same zone, in another location.` });
      return `external_id: row ${before.row} is of the same ${kind} already.`;
    }
    if (kind !== 'installation' || fields.status !== 'live' || typeof fields.device_id !== 'string') return undefined;
    const other = devices.get(fields.device_id);
    if (other !== undefined) return `device_id: row ${other} has the device in a live installation already.`;
    devices.set(fields.device_id, row);
    return undefined;
  }

  return {
    place(row, read) {
      const { kind, ref, parent } = read;
      const unit = unitOf(row, read);
      const fault = overfills(unit) ? `A location has at most ${maxUnit} rows in a file.` : faultOf(row, read, unit);
      if (fault !== undefined) return { unit, reason: fault };
      if (kind === undefined || ref === '') return { unit };
      const own = name(kind, ref);
      const self = { row, kind, ref, unit };
      seen.set(own, self);
      const reason = `parent: its row comes after this one, in row ${row}.`;
      for (const child of waiting.get(own) ?? []) {
        const theirs = child.unit ?? (kind === 'zone' ? unit : undefined);
        late.push({ ...child, unit: theirs, reason, parent: { kind, ref } });
      }
      waiting.delete(own);
      const above = parentKinds[kind];
      if (above && parent !== undefined && !seen.has(name(above, parent))) wait(name(above, parent), self);
      return { unit };
    },
    has: (kind, ref) => seen.has(name(kind, ref)),
    adopt(zone, location) {
      if (location !== undefined) adopted.set(zone, location);
    },
    late: () => late,
  };
}
