import { estateColumns } from '@attribution/contracts';
import type { Clock } from '@attribution/service';
import type { OrganizationDatabase } from '../store.ts';
import { findLocationsOfZones } from './apply.store.ts';
import { type ImportRow, lockImport, markStaged, readParts } from './import.store.ts';
import { createOutline, type Outline } from './outline.ts';
import { readRecords } from './read-records.ts';
import type { ReadRecord } from './records.ts';
import { parentKinds, type ReadRow, readRow } from './row.ts';
import {
  deleteRows,
  findFaultyUnits,
  insertStagedRows,
  type NewStagedRow,
  noteFaults,
  refuseRows,
} from './staged-row.store.ts';

interface Staging {
  readonly database: OrganizationDatabase;
  readonly clock: Clock;
}

/** Rows of one statement. */
const atOnce = 5_000;

/**
 * Reads the file into the table of rows: each checked by itself, and told where it belongs. What is at fault refuses its
 * unit. Begun again, it begins anew. Throws `validation-error` for a file that cannot be read to its end.
 */
export async function stage({ database, clock }: Staging, job: ImportRow): Promise<void> {
  while ((await deleteRows(database.sql, job.id, { all: true }, atOnce)) > 0);
  const outline = createOutline();
  let total = 0;
  let last = 0;
  for await (const records of readRecords(readParts(database.sql, job.id), job.media, estateColumns)) {
    const rows = await placeRows(database, job, outline, records);
    total += rows.length;
    last = rows.at(-1)?.row ?? last;
    await database.sqlTransaction((tx) => insertStagedRows(tx, rows));
  }
  await database.sqlTransaction((tx) => noteFaults(tx, job.id, outline.late()));
  const units = await findFaultyUnits(database.sql, job.id);
  let refused = 0;
  for (let from = 0; from <= last; from += atOnce)
    refused += await refuseRows(database.sql, job.id, units, from, from + atOnce - 1);
  await database.sqlTransaction(async (tx) => {
    if (await lockImport(tx, job.id)) await markStaged(tx, job.id, { total, refused }, clock.now());
  });
}

/** Records as rows of the table. */
async function placeRows(
  { sql }: OrganizationDatabase,
  job: ImportRow,
  outline: Outline,
  records: readonly ReadRecord[],
): Promise<NewStagedRow[]> {
  const read = records.map((one) => ({ row: one.row, ...readOne(one, job.media) }));
  const zones = read.flatMap(({ kind, parent }) => (inZones(kind) && parent !== undefined ? [parent] : []));
  const unknown = [...new Set(zones)].filter((ref) => !outline.has('zone', ref));
  if (unknown.length > 0)
    for (const { zone, location } of await findLocationsOfZones(sql, job.account_id, unknown))
      outline.adopt(zone, location);
  return read.map(({ row, ...one }) => {
    const { unit, reason } = outline.place(row, one);
    return {
      import_id: job.id,
      row,
      kind: one.kind ?? '',
      external_id: one.ref.slice(0, 200),
      parent: one.parent?.slice(0, 200) ?? null,
      unit: unit ?? null,
      fields: one.fields,
      reason: one.reason ?? reason ?? null,
    };
  });
}

const inZones = (kind: ReadRow['kind']) => kind === undefined || parentKinds[kind] === 'zone';

const nothing = { kind: undefined, ref: '', parent: undefined, fields: {} };

const readOne = (one: ReadRecord, media: string): ReadRow =>
  'error' in one ? { ...nothing, reason: one.error } : readRow(one.record, media);
