import { type Client, Problem } from '@attribution/contracts';
import pLimit from 'p-limit';
import { findZone, zoneUnknown } from '../locations/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { kindOf, lockByRefs } from './apply.store.ts';
import type { StagedRow } from './batches.ts';
import type { ImportRow } from './import.store.ts';

interface Coordinates {
  readonly latitude: number;
  readonly longitude: number;
}

/** Finds zones of points, by `keyOf`; those that Utilities does not say are left out. */
export type ZoneFinder = (points: readonly Coordinates[]) => Promise<ReadonlyMap<string, string>>;

/** Questions that Utilities is asked at once, by all imports of the process. */
const questionsAtOnce = 8;

const keyOf = ({ latitude, longitude }: Coordinates) => `${latitude} ${longitude}`;

/** Asks once for equal points, and no more after a question that was not answered. */
export function createZoneFinder(utilities: Client): ZoneFinder {
  const oneOfFew = pLimit(questionsAtOnce);
  return async (points) => {
    const found = new Map<string, string>();
    let isAway = false;
    const ask = async (key: string, point: Coordinates) => {
      if (isAway) return;
      try {
        found.set(key, await findZone(utilities, point));
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        isAway = true;
      }
    };
    const each = new Map(points.map((point) => [keyOf(point), point]));
    await Promise.all([...each].map(([key, point]) => oneOfFew(ask, key, point)));
    return found;
  };
}

/** Utilities does not say a zone that an import needs; the import is tried again later. */
export class ZonesUnknown extends Error {
  constructor() {
    super('Utilities does not say the time zones of an import');
  }
}

interface Zoned {
  readonly rows: readonly StagedRow[];
  /** The locations whose zone nobody says. */
  readonly unknown: readonly StagedRow[];
}

/**
 * Adds the zones of their coordinates to the new locations without a time zone. It is done before the transaction, which no
 * call to a service may hold up.
 */
export async function addZones(
  { database, findZones }: { readonly database: OrganizationDatabase; readonly findZones: ZoneFinder },
  job: ImportRow,
  rows: readonly StagedRow[],
): Promise<Zoned> {
  const without = rows.filter(needsZone);
  if (without.length === 0) return { rows, unknown: [] };
  const refs = without.map(({ external_id }) => external_id);
  const existing = await lockByRefs(database.sql, kindOf('location'), job.account_id, refs, 'holding');
  const created = without.filter(({ external_id }) => !existing.has(external_id));
  const zones = await findZones(created.map(pointOf));
  const zoneOf = new Map(created.map((row) => [row, zones.get(keyOf(pointOf(row)))]));
  return {
    rows: rows.map((row) => ({ ...row, zone: zoneOf.get(row) })),
    unknown: created.filter((row) => zoneOf.get(row) === undefined),
  };
}

export const zoneFaults = (rows: readonly StagedRow[]) =>
  rows.map(({ row, unit }) => ({ row, unit, reason: zoneUnknown }));

const needsZone = ({ kind, fields }: StagedRow) =>
  kind === 'location' && fields.timezone === undefined && typeof fields.latitude === 'number';

const pointOf = ({ fields }: StagedRow): Coordinates => ({
  latitude: Number(fields.latitude),
  longitude: Number(fields.longitude),
});
