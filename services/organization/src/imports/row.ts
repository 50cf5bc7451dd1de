import {
  bothOrNeither,
  CameraChange,
  type EstateColumn,
  type EstateKind,
  ExternalId,
  estateColumns,
  estateKinds,
  GroupChange,
  InstallationChange,
  id,
  LocationChange,
  looksLikeId,
  NewCamera,
  NewInstallation,
  NewLocation,
  NewScreen,
  NewZone,
  refinedBy,
  ScreenChange,
  ZoneChange,
} from '@attribution/contracts';
import { findFault, judge, parse } from '@attribution/http';
import { z } from 'zod';
import { unguardFormula } from '../csv-formulas.ts';

/** Reads and validates a record. Pure. */

/** A record as it was read: texts from CSV, any JSON from NDJSON. */
export type FileRecord = Readonly<Record<string, unknown>>;

/** Fields as in the API, except that screens of outputs are refs. */
export type RowFields = Readonly<Record<string, unknown>>;

export interface ReadRow {
  /** undefined if it is unknown. */
  readonly kind: EstateKind | undefined;
  /** An external id, or our own id; empty when it is missing. */
  readonly ref: string;
  readonly parent: string | undefined;
  readonly fields: RowFields;
  /** Why the row cannot be set up; undefined if it can. */
  readonly reason: string | undefined;
}

/** The kind of the parent of each kind. */
export const parentKinds = {
  group: undefined,
  location: 'group',
  zone: 'location',
  screen: 'zone',
  installation: 'location',
  camera: 'zone',
} as const satisfies Record<EstateKind, EstateKind | undefined>;

/** A thing's external id, or its id. */
function refTo(kind: EstateKind) {
  const [own, external] = [id(kind), ExternalId.unwrap()];
  return z
    .string()
    .trim()
    .check(({ value, issues }) => {
      const parsed = parse(looksLikeId(value) ? own : external, value);
      if ('issue' in parsed) issues.push({ code: 'custom', message: parsed.issue.message, input: value });
    });
}

const Output = InstallationChange.shape.outputs.unwrap().element;
const outputs = z
  .array(z.object({ output: Output.shape.output, screen: refTo('screen') }))
  .max(16)
  .refine(
    (wires) =>
      ['output', 'screen'].every((key) => new Set(wires.map((wire) => wire[key as 'output'])).size === wires.length),
    'must name each output and each screen once',
  );

/** The columns of each kind besides `kind`, `external_id` and `parent`. */
const fieldsOf = {
  group: { name: GroupChange.shape.name, description: GroupChange.shape.description },
  location: {
    name: LocationChange.shape.name,
    timezone: LocationChange.shape.timezone,
    address: LocationChange.shape.address,
    latitude: LocationChange.shape.latitude,
    longitude: LocationChange.shape.longitude,
    venue_type: LocationChange.shape.venue_type,
    opening_hours: LocationChange.shape.opening_hours,
    status: LocationChange.shape.status,
  },
  zone: { name: ZoneChange.shape.name, zone_kind: ZoneChange.shape.kind },
  screen: {
    name: ScreenChange.shape.name,
    tags: ScreenChange.shape.tags,
    width_px: ScreenChange.shape.width_px,
    height_px: ScreenChange.shape.height_px,
    accepted_formats: ScreenChange.shape.accepted_formats,
    audio: ScreenChange.shape.audio,
  },
  installation: {
    name: InstallationChange.shape.name,
    device_id: NewInstallation.shape.device_id.optional(),
    status: InstallationChange.shape.status,
    outputs: outputs.optional(),
  },
  camera: { name: CameraChange.shape.name, device_id: NewCamera.shape.device_id.optional() },
} as const satisfies Record<EstateKind, Partial<Record<EstateColumn, z.ZodType>>>;

/** Defaults of fields that cannot be null, as when a thing is created. */
export const defaults: Readonly<Partial<Record<EstateKind, RowFields>>> = {
  location: { status: NewLocation.shape.status.parse(undefined) },
  zone: { zone_kind: NewZone.shape.kind.parse(undefined) },
  screen: {
    tags: NewScreen.shape.tags.parse(undefined),
    accepted_formats: NewScreen.shape.accepted_formats.parse(undefined),
    audio: NewScreen.shape.audio.parse(undefined),
  },
  installation: {
    status: NewInstallation.shape.status.parse(undefined),
    outputs: NewInstallation.shape.outputs.parse(undefined),
  },
};

const schemas = Object.fromEntries(estateKinds.map((kind) => [kind, schemaOf(kind)])) as Record<EstateKind, z.ZodType>;

function schemaOf(kind: EstateKind): z.ZodType {
  const parent = parentOf(kind);
  const schema = z.object({ external_id: refTo(kind), ...(parent && { parent }), ...fieldsOf[kind] });
  return kind === 'location' ? (schema as z.ZodType<object>).check(refinedBy(bothOrNeither)) : schema;
}

function parentOf(kind: EstateKind) {
  const parentKind = parentKinds[kind];
  return parentKind && refTo(parentKind);
}

const isKind = (text: unknown): text is EstateKind => estateKinds.includes(text as EstateKind);

/** Reads a record. A faulty row still has its kind, ref and parent as far as they can be read, which gives its unit. */
export function readRow(given: FileRecord, media: string): ReadRow {
  const record = media === 'text/csv' ? withoutGuards(given) : given;
  const { kind: name, external_id, parent } = record;
  const kind = isKind(name) ? name : undefined;
  const row = { kind, ref: textOf(external_id) ?? '', parent: textOf(parent), fields: {} };
  if (!kind) return { ...row, reason: `kind: must be one of ${estateKinds.join(', ')}, not ${shown(name)}.` };
  const { values, fault } = valuesOf(kind, record, media);
  if (fault !== undefined) return { ...row, reason: fault };
  const judged = judge(schemas[kind], values);
  if ('fault' in judged) return { ...row, reason: judged.fault };
  const { external_id: ref, parent: parentRef, ...fields } = judged.item as RowFields;
  return { kind, ref: String(ref), parent: textOf(parentRef), fields, reason: undefined };
}

const withoutGuards = (record: FileRecord): FileRecord =>
  Object.fromEntries(Object.entries(record).map(([column, cell]) => [column, unguardFormula(String(cell ?? ''))]));

interface Values {
  readonly values: Record<string, unknown>;
  readonly fault?: string;
}

/** The record's values for this kind, as in JSON. */
function valuesOf(kind: EstateKind, record: FileRecord, media: string): Values {
  const known: readonly string[] = ['kind', 'external_id', 'parent', ...Object.keys(fieldsOf[kind])];
  const values: Record<string, unknown> = {};
  for (const [column, given] of Object.entries(record)) {
    if (column === 'kind') continue;
    const cell = media === 'text/csv' ? readCell(column, given as string) : { value: given };
    if (cell.fault !== undefined) return { values, fault: `${column}: ${cell.fault}.` };
    if (!known.includes(column) || (column === 'parent' && !parentKinds[kind])) {
      if (cell.value === null) continue;
      const what = (estateColumns as readonly string[]).includes(column)
        ? `a ${kind} has none`
        : 'there is no such column';
      return { values, fault: `${column.slice(0, 60)}: ${what}.` };
    }
    values[column] = cell.value ?? defaults[kind]?.[column] ?? null;
  }
  for (const column of ['external_id', 'parent']) if (values[column] === null) delete values[column];
  // A location always has a zone: an empty cell leaves the one it has, and a new location gets that of its coordinates.
  if (values.timezone === null) delete values.timezone;
  // Unsetting one coordinate unsets the other.
  if (values.latitude === null) values.longitude ??= null;
  if (values.longitude === null) values.latitude ??= null;
  return { values };
}

interface Cell {
  readonly value?: unknown;
  readonly fault?: string;
}

/** Numbers as JSON and our own exports write them. */
const number = /^-?\d{1,12}(\.\d{1,30})?(e-\d{1,3})?$/;

/** The value of a cell's text; null for an empty one. */
function readCell(column: string, text: string): Cell {
  if (text === '') return { value: null };
  switch (column) {
    case 'latitude':
    case 'longitude':
    case 'width_px':
    case 'height_px':
      return number.test(text) ? { value: Number(text) } : { fault: `must be a number, not ${shown(text)}` };
    case 'audio':
      return ['true', 'false'].includes(text)
        ? { value: text === 'true' }
        : { fault: `must be true or false, not ${shown(text)}` };
    case 'tags':
    case 'accepted_formats':
      return { value: text.split(',') };
    case 'opening_hours':
    case 'outputs':
      return readJson(text);
    default:
      return { value: text };
  }
}

function readJson(text: string): Cell {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { fault: 'is not valid JSON' };
  }
  return findFault(value, '') === undefined ? { value } : { fault: 'has text or numbers that cannot be kept' };
}

const textOf = (value: unknown) => (typeof value === 'string' ? value.trim() || undefined : undefined);

/** A value as shown in a message, truncated. */
function shown(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'empty';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text;
}
