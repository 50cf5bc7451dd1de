import { type EstateColumn, estateColumns } from '@attribution/contracts';
import { cameraKind } from '../cameras/index.ts';
import { type EstateRow, type Kind, refOf } from '../estate/index.ts';
import { groupKind } from '../groups/index.ts';
import { installationKind } from '../installations/index.ts';
import { locationKind } from '../locations/index.ts';
import { screenKind } from '../screens/index.ts';
import { zoneKind } from '../zones/index.ts';

/** A row of an estate as a file has it: what an import reads, the other way round. */
export type FileRow = Readonly<Partial<Record<EstateColumn, unknown>>>;

/** What a row is in, by what a file calls it. */
const parentRef = (table: string, column: string) =>
  `(SELECT coalesce(p.external_id, p.id) FROM ${table} p WHERE p.id = t.${column}) AS parent_ref`;

/** Outputs with the screens as a file calls them. */
const screenRefs = `(SELECT coalesce(jsonb_agg(jsonb_build_object('output', o.output,
    'screen', coalesce(s.external_id, s.id)) ORDER BY o.output COLLATE "C"), '[]')
  FROM installation_outputs o JOIN screens s ON s.id = o.screen_id WHERE o.installation_id = t.id) AS outputs`;

interface InFile {
  readonly parent_ref: string;
}

/** One kind's way into a file: read with `computed`, written by `fields`. */
function exported<Row extends EstateRow>(
  kind: Kind<Row>,
  computed: string | undefined,
  fields: (row: Row & InFile) => FileRow,
) {
  const { computed: _, ...rest } = kind;
  const toFile = (row: Row & InFile): FileRow => ({
    kind: kind.name,
    external_id: refOf(row),
    ...(computed && { parent: row.parent_ref }),
    ...fields(row),
  });
  return { kind: { ...rest, ...(computed && { computed }) }, toFile };
}

export const exportKinds = [
  exported(groupKind, undefined, ({ name, description }) => ({ name, description })),
  exported(locationKind, parentRef('groups', 'group_id'), (row) => ({
    name: row.name,
    timezone: row.timezone,
    address: row.address,
    latitude: row.latitude,
    longitude: row.longitude,
    venue_type: row.venue_type,
    opening_hours: row.opening_hours,
    status: row.status,
  })),
  exported(zoneKind, parentRef('locations', 'location_id'), ({ name, kind }) => ({ name, zone_kind: kind })),
  exported(screenKind, parentRef('zones', 'zone_id'), (row) => ({
    name: row.name,
    tags: row.tags,
    width_px: row.width_px,
    height_px: row.height_px,
    accepted_formats: row.accepted_formats,
    audio: row.audio,
  })),
  exported(installationKind, `${parentRef('locations', 'location_id')}, ${screenRefs}`, (row) => ({
    name: row.name,
    device_id: row.device_id,
    status: row.live ? 'live' : 'removed',
    outputs: row.outputs,
  })),
  exported(cameraKind, parentRef('zones', 'zone_id'), ({ name, device_id }) => ({ name, device_id })),
] as const;

/** What a value is in a cell; null and what does not apply are empty. */
function cellOf(column: EstateColumn, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (column === 'tags' || column === 'accepted_formats') return (value as readonly string[]).join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);
}

/** A file's lines in CSV. */
export const lineOf = {
  header: estateColumns,
  cells: (row: FileRow) => estateColumns.map((column) => cellOf(column, row[column])),
};
