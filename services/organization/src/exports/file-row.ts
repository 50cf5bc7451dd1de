import { type EstateColumn, estateColumns } from '@attribution/contracts';
import { cameraKind } from '../cameras/index.ts';
import { guardFormula } from '../csv-formulas.ts';
import { type EstateRow, type Kind, refOf } from '../estate/index.ts';
import { groupKind } from '../groups/index.ts';
import { installationKind } from '../installations/index.ts';
import { locationKind } from '../locations/index.ts';
import { screenKind } from '../screens/index.ts';
import { zoneKind } from '../zones/index.ts';

/** A row of an exported file, as an import would read it. */
export type FileRow = Readonly<Partial<Record<EstateColumn, unknown>>>;

/** Selects what a file calls the parent of a row. */
const parentRef = (table: string, column: string) =>
  `(SELECT coalesce(p.external_id, p.id) FROM ${table} p WHERE p.id = t.${column}) AS parent_ref`;

/** Selects outputs, with what a file calls their screens. */
const screenRefs = `(SELECT coalesce(jsonb_agg(jsonb_build_object('output', o.output,
    'screen', coalesce(s.external_id, s.id)) ORDER BY o.output COLLATE "C"), '[]')
  FROM installation_outputs o JOIN screens s ON s.id = o.screen_id WHERE o.installation_id = t.id) AS outputs`;

interface WithParentRef {
  readonly parent_ref: string;
}

/** How a kind is exported: `computed` is selected with each row, and `fields` turns the row into cells. */
function exportOf<Row extends EstateRow>(
  kind: Kind<Row>,
  computed: string | undefined,
  fields: (row: Row & WithParentRef) => FileRow,
) {
  const { computed: _, ...rest } = kind;
  const toFile = (row: Row & WithParentRef): FileRow => ({
    kind: kind.name,
    external_id: refOf(row),
    ...(computed && { parent: row.parent_ref }),
    ...fields(row),
  });
  return { kind: { ...rest, ...(computed && { computed }) }, toFile };
}

export const exportKinds = [
  exportOf(groupKind, undefined, ({ name, description }) => ({ name, description })),
  exportOf(locationKind, parentRef('groups', 'group_id'), (row) => ({
    name: row.name,
    timezone: row.timezone,
    address: row.address,
    latitude: row.latitude,
    longitude: row.longitude,
    venue_type: row.venue_type,
    opening_hours: row.opening_hours,
    status: row.status,
  })),
  exportOf(zoneKind, parentRef('locations', 'location_id'), ({ name, kind }) => ({ name, zone_kind: kind })),
  exportOf(screenKind, parentRef('zones', 'zone_id'), (row) => ({
    name: row.name,
    tags: row.tags,
    width_px: row.width_px,
    height_px: row.height_px,
    accepted_formats: row.accepted_formats,
    audio: row.audio,
  })),
  exportOf(installationKind, `${parentRef('locations', 'location_id')}, ${screenRefs}`, (row) => ({
    name: row.name,
    device_id: row.device_id,
    status: row.live ? 'live' : 'removed',
    outputs: row.outputs,
  })),
  exportOf(cameraKind, parentRef('zones', 'zone_id'), ({ name, device_id }) => ({ name, device_id })),
] as const;

/** The text of a value in a cell; empty for null and for columns that the kind does not have. */
function cellOf(column: EstateColumn, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (column === 'tags' || column === 'accepted_formats') return guardFormula((value as readonly string[]).join(','));
  if (typeof value === 'string') return guardFormula(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value as number | boolean);
}

/** The lines of a CSV file. */
export const csvLines = {
  header: estateColumns,
  cells: (row: FileRow) => estateColumns.map((column) => cellOf(column, row[column])),
};
