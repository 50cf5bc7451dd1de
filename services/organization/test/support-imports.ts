import {
  type Client,
  createClient,
  type EstateColumn,
  type EstateMedia,
  estateColumns,
  exportEstate,
  getEstateImport,
  getEstateImportReport,
  importEstate,
} from '@attribution/contracts';
import { createOutbox } from '@attribution/messaging';
import { eventually, patientLimits, type TestService } from '@attribution/testing';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { importJob } from '../src/imports/index.ts';
import { type OrganizationDatabase, openOrganizationDatabase } from '../src/store.ts';
import type { Caller, Tenant } from './support.ts';

/** A row of a file by its columns; those that are left out are empty in CSV. */
export type Row = { readonly [C in EstateColumn]?: unknown };

const cellOf = (value: unknown) =>
  value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);

/** Rows as CSV, with the columns that any of them has. */
export function csv(rows: readonly Row[]): string {
  const columns = estateColumns.filter((name) => name === 'external_id' || rows.some((row) => name in row));
  return stringify([columns, ...rows.map((row) => columns.map((name) => cellOf(row[name])))]);
}

export const ndjson = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** The content of a file, or its rows. */
type File = string | Uint8Array<ArrayBuffer> | readonly Row[];

interface Sending {
  readonly media?: EstateMedia;
  readonly dry_run?: boolean;
}

const isContent = (file: File): file is string | Uint8Array<ArrayBuffer> =>
  typeof file === 'string' || file instanceof Uint8Array;

/** Sends a file, and returns its import. */
export async function send(caller: Caller, file: File, { media = 'text/csv', dry_run }: Sending = {}) {
  const content = isContent(file) ? file : media === 'text/csv' ? csv(file) : ndjson(file);
  const query = dry_run === undefined ? {} : { dry_run: String(dry_run) };
  return (await caller.call(importEstate, { query, upload: { media, content } })).body;
}

export interface Refused {
  readonly row: number;
  readonly kind: string;
  readonly external_id: string;
  readonly reason: string;
}

export async function reportOf(caller: Caller, id: string): Promise<Refused[]> {
  const { text } = (await caller.call(getEstateImportReport, { params: { id } })).body;
  return parse(text, { columns: true, cast: (value, { column }) => (column === 'row' ? Number(value) : value) });
}

/** Resolves with an import when it has ended. */
export const ended = (caller: Caller, id: string, within = 90_000) =>
  eventually(async () => {
    const { body } = await caller.call(getEstateImport, { params: { id } });
    if (body.finished_at === null) throw new Error(`An import has not ended: ${JSON.stringify(body)}`);
    return body;
  }, within);

/** Imports a file, waits for the end, and adds the report. */
export async function imported(caller: Caller, file: File, sending: Sending = {}) {
  const { id } = await send(caller, file, sending);
  const job = await ended(caller, id);
  return { ...job, report: await reportOf(caller, id) };
}

/** The counts of an import: created, updated, unchanged, refused. */
export const countsOf = ({ rows }: { rows: Record<'created' | 'updated' | 'unchanged' | 'refused', number> }) =>
  [rows.created, rows.updated, rows.unchanged, rows.refused] as const;

export async function exported(caller: Caller, query: Record<string, string> = {}): Promise<string> {
  return (await caller.call(exportEstate, { query })).body.text;
}

/** The rows of an export. */
export async function exportedRows(caller: Caller, query: Record<string, string> = {}) {
  return parse(await exported(caller, query), { columns: true }) as Record<EstateColumn, string>[];
}

/** The external ids in the order of an export. */
export const exportedIds = async (caller: Caller) => (await exportedRows(caller)).map(({ external_id }) => external_id);

/** The types of the events of an account after the first `before`. */
export const eventsSince = async (tenant: Tenant, before: number) =>
  (await tenant.events()).slice(before).map(({ type }) => type);

/** Rows with the least that each kind requires. */
export const a = {
  group: (external_id: string, more: Row = {}): Row => ({ kind: 'group', external_id, name: 'A group', ...more }),
  location: (external_id: string, parent: string, more: Row = {}): Row => ({
    ...{ kind: 'location', external_id, parent, name: 'A location', timezone: 'Europe/Zurich' },
    ...more,
  }),
  zone: (external_id: string, parent: string, more: Row = {}): Row => ({
    ...{ kind: 'zone', external_id, parent, name: 'A zone' },
    ...more,
  }),
  screen: (external_id: string, parent: string, more: Row = {}): Row => ({
    ...{ kind: 'screen', external_id, parent, name: 'A screen', width_px: 1920, height_px: 1080 },
    ...more,
  }),
  installation: (external_id: string, parent: string, device_id: string, more: Row = {}): Row => ({
    ...{ kind: 'installation', external_id, parent, device_id },
    ...more,
  }),
  camera: (external_id: string, parent: string, device_id: string, more: Row = {}): Row => ({
    ...{ kind: 'camera', external_id, parent, name: 'A camera', device_id },
    ...more,
  }),
};

const nobody = createClient({ baseUrl: 'http://127.0.0.1:1' });

/** A device id for a number. */
export const device = (number: number) => `dev_01968f3e-7a4b-7cc1-9f6e-${number.toString(16).padStart(12, '0')}`;

let devices = 0;

/** A location with a zone, a screen, an installation wired to the screen, and a camera. */
export function site(ref: string, group: string): Row[] {
  const [player, camera] = [device(++devices), device(++devices)];
  return [
    a.location(ref, group),
    a.zone(`${ref}-Z`, ref),
    a.screen(`${ref}-S`, `${ref}-Z`),
    a.installation(`${ref}-I`, ref, player, { outputs: [{ output: 'HDMI-1', screen: `${ref}-S` }] }),
    a.camera(`${ref}-C`, `${ref}-Z`, camera),
  ];
}

/** Counts the rows that the tables hold for an import. */
export async function countStored({ db }: TestService, id: string): Promise<number> {
  const tables = ['estate_import_rows', 'estate_import_lots', 'estate_import_units'];
  const counts = tables.map((table) => `(SELECT count(*) FROM ${table} WHERE import_id = $1)`);
  const sql = `SELECT (${counts.join(' + ')})::int AS count`;
  return (await db.query<{ count: number }>(sql, [id])).rows[0]?.count ?? -1;
}

/** Dependencies of jobs on a service's database. The test must close the database. Unless a client is given, Utilities is away. */
export function openDependencies({ db, logs, clock }: TestService, utilities: Client = nobody) {
  const database: OrganizationDatabase = openOrganizationDatabase({
    url: db.options.connectionString ?? '',
    poolSize: 4,
    ...patientLimits,
  });
  return { database, outbox: createOutbox(() => {}), clock, logger: logs.logger, utilities };
}

/** Keeps a service from running imports, so that the test runs them. Resolves with a function that releases it. */
export async function holdImports({ db }: TestService): Promise<() => Promise<void>> {
  const client = await db.connect();
  const lock = [`job ${importJob}`];
  await client.query('SELECT pg_advisory_lock(hashtextextended($1, 1))', lock);
  return async () => {
    await client.query('SELECT pg_advisory_unlock(hashtextextended($1, 1))', lock);
    client.release();
  };
}

export const never = new AbortController().signal;

/** Statements that contain this text and wait for a lock. */
export async function countLockWaits({ db }: TestService, text: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND strpos(query, $1) > 0`,
    [text],
  );
  return rows[0]?.count ?? 0;
}

/** Resolves when a statement that contains `table` waits for a lock. */
export const waitsForLock = (service: TestService, table: string) =>
  eventually(async () => {
    if ((await countLockWaits(service, table)) === 0) throw new Error(`Nothing waits for ${table}`);
  });
