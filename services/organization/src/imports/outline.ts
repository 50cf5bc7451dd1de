import { hash } from 'node:crypto';
import type { EstateKind } from '@attribution/contracts';
import { parentKinds, type ReadRow } from './row.ts';

/**
 * Assigns the rows of a file to units as they are read; memory holds their numbers and short keys alone, never their names.
 * A unit is a location with everything in it, or a group, and is set up as a whole. Its number is that of its first row.
 */
export interface Outline {
  /** The unit of a row, and why it is refused, if it is: a second row of one thing, for instance. */
  assign(row: number, read: Pick<ReadRow, 'kind' | 'ref' | 'parent' | 'fields'>): Assignment;
  /** Whether an earlier row is of that thing. */
  has(kind: EstateKind, ref: string): boolean;
  /** Adds a zone that the account has already. `location` is undefined if it has none of that name. */
  addExistingZone(zone: string, location: string | undefined): void;
  /** The faults of rows that showed only in a later row, by row. */
  lateFaults(): ReadonlyMap<number, readonly LateFault[]>;
}

export interface Assignment {
  /** undefined if it is not known. */
  readonly unit: number | undefined;
  readonly reason?: string;
}

export interface LateFault {
  readonly unit: number | undefined;
  readonly reason: string;
  /** Whether the parent came after the row, which is no fault if the parent exists already. */
  readonly isOrder: boolean;
}

interface Seen {
  readonly row: number;
  readonly unit: number | undefined;
}

/** Rows of a unit, which is set up in one transaction. */
const maxUnitRows = 10_000;

const longestName = 40;
/** A name as it is kept: a digest of a long one, which no name can be, as it is long itself. */
const shorten = (name: string) => (name.length <= longestName ? name : hash('sha256', name, 'base64'));

export function createOutline(): Outline {
  const seen = new Map<string, Seen>();
  /** Units of locations, by what the file calls the location. */
  const units = new Map<string, number>();
  /** Rows that came before their parent, by the key of the parent. */
  const waiting = new Map<string, Seen[]>();
  const late = new Map<number, LateFault[]>();
  /** Locations of zones that exist already, by what the file calls the zone. */
  const existingZones = new Map<string, string>();
  /** Rows of live installations, by device. */
  const devices = new Map<string, number>();
  /** How many rows each unit has. */
  const sizes = new Map<number, number>();
  const keyOf = (kind: EstateKind, ref: string) => `${kind} ${shorten(ref)}`;

  function addLate(row: number, fault: LateFault): void {
    const others = late.get(row);
    if (others) others.push(fault);
    else late.set(row, [fault]);
  }

  function awaitParent(parent: string, child: Seen): void {
    const others = waiting.get(parent);
    if (others) others.push(child);
    else waiting.set(parent, [child]);
  }

  function unitOfLocation(ref: string, row: number): number {
    const key = shorten(ref);
    const known = units.get(key);
    if (known === undefined) units.set(key, row);
    return known ?? row;
  }

  function unitOfZone(ref: string, row: number): number | undefined {
    const zone = seen.get(keyOf('zone', ref));
    if (zone) return zone.unit;
    const location = existingZones.get(shorten(ref));
    return location === undefined ? undefined : unitOfLocation(location, row);
  }

  function unitOf(row: number, { kind, ref, parent }: Pick<ReadRow, 'kind' | 'ref' | 'parent'>): number | undefined {
    if (kind === 'group') return row;
    if (kind === 'location') return ref === '' ? undefined : unitOfLocation(ref, row);
    if (parent === undefined) return undefined;
    if (kind === undefined) return unitOfUnknown(row, ref, parent);
    return parentKinds[kind] === 'zone' ? unitOfZone(parent, row) : unitOfLocation(parent, row);
  }

  /** Counts a row of a unit, and returns whether there are too many. */
  function exceedsUnit(unit: number | undefined): boolean {
    if (unit === undefined) return false;
    const size = (sizes.get(unit) ?? 0) + 1;
    sizes.set(unit, size);
    return size > maxUnitRows;
  }

  /** A row of unknown kind may be anything: what its parent is says most about its unit. */
  function unitOfUnknown(row: number, ref: string, parent: string): number | undefined {
    const known = units.get(shorten(parent)) ?? unitOfZone(parent, row);
    if (known !== undefined) return known;
    if (!seen.has(keyOf('group', parent))) return unitOfLocation(parent, row);
    return ref === '' ? undefined : unitOfLocation(ref, row);
  }

  function faultOf(
    row: number,
    { kind, ref, fields }: Pick<ReadRow, 'kind' | 'ref' | 'fields'>,
    unit: number | undefined,
  ): string | undefined {
    if (kind === undefined || ref === '') return undefined;
    const before = seen.get(keyOf(kind, ref));
    if (before) {
      // The rows below the zone may mean either location.
      const isAmbiguous = kind === 'zone' && before.unit !== undefined && unit !== undefined && before.unit !== unit;
      if (isAmbiguous && !late.get(before.row)?.some(({ isOrder }) => !isOrder)) {
        const reason = `external_id: row ${row} is of the same zone, in another location.`;
        addLate(before.row, { unit: before.unit, reason, isOrder: false });
      }
      return `external_id: row ${before.row} is of the same ${kind} already.`;
    }
    if (kind !== 'installation' || fields.status !== 'live' || typeof fields.device_id !== 'string') return undefined;
    const device = shorten(fields.device_id);
    const other = devices.get(device);
    if (other !== undefined) return `device_id: row ${other} has the device in a live installation already.`;
    devices.set(device, row);
    return undefined;
  }

  return {
    assign(row, read) {
      const { kind, ref, parent } = read;
      const unit = unitOf(row, read);
      const fault = exceedsUnit(unit)
        ? `A location has at most ${maxUnitRows} rows in a file.`
        : faultOf(row, read, unit);
      if (fault !== undefined) return { unit, reason: fault };
      if (kind === undefined || ref === '') return { unit };
      const key = keyOf(kind, ref);
      const self = { row, unit };
      seen.set(key, self);
      const reason = `parent: its row comes after this one, in row ${row}.`;
      for (const child of waiting.get(key) ?? []) {
        const childUnit = child.unit ?? (kind === 'zone' ? unit : undefined);
        addLate(child.row, { unit: childUnit, reason, isOrder: true });
      }
      waiting.delete(key);
      const parentKind = parentKinds[kind];
      if (parentKind && parent !== undefined && !seen.has(keyOf(parentKind, parent)))
        awaitParent(keyOf(parentKind, parent), self);
      return { unit };
    },
    has: (kind, ref) => seen.has(keyOf(kind, ref)),
    addExistingZone(zone, location) {
      if (location !== undefined) existingZones.set(shorten(zone), location);
    },
    lateFaults: () => late,
  };
}
