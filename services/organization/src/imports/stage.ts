import { estateColumns } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import type { Clock } from '@attribution/service';
import type { OrganizationDatabase } from '../store.ts';
import { findLocationsOfZones, findThere, kindOf } from './apply.store.ts';
import { AnotherAtWork, type ImportRow, lockUnstaged, markStaged, readParts } from './import.store.ts';
import { createOutline, type Late, type Outline } from './outline.ts';
import { readRecords } from './read-records.ts';
import type { ReadRecord } from './records.ts';
import { parentKinds, type ReadRow, readRow } from './row.ts';
import {
  countRows,
  deleteRows,
  findFaultyUnits,
  insertStagedRows,
  learnSizes,
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
 * unit. Begun again, it begins anew; false when it was told to stop. Throws `validation-error` for a file that cannot be
 * read to its end.
 */
export async function stage({ database, clock }: Staging, job: ImportRow, stopping: AbortSignal): Promise<boolean> {
  const { sql } = database;
  /** One at a time, whoever believes to be the only one. */
  const inOne = <T>(work: (tx: Sql) => Promise<T>) =>
    database.sqlTransaction(async (tx) => {
      if (!(await lockUnstaged(tx, job.id))) throw new AnotherAtWork();
      return work(tx);
    });
  while ((await inOne((tx) => deleteRows(tx, job.id, { all: true }, atOnce))) > 0);
  const outline = createOutline();
  let total = 0;
  let last = 0;
  for await (const records of readRecords(readParts(sql, job.id), job.media, estateColumns)) {
    if (stopping.aborted) return false;
    const rows = await placeRows(database, job, outline, records);
    total += rows.length;
    last = rows.at(-1)?.row ?? last;
    await inOne((tx) => insertStagedRows(tx, rows));
  }
  await learnSizes(sql);
  const late = await lateRows(sql, job, outline);
  for (let start = 0; start < late.length; start += atOnce)
    await inOne((tx) => noteFaults(tx, job.id, late.slice(start, start + atOnce)));
  const units = await findFaultyUnits(sql, job.id);
  let refused = 0;
  for (let from = 0; from <= last; from += atOnce)
    refused += await inOne((tx) => refuseRows(tx, job.id, units, from, from + atOnce - 1));
  await inOne(async (tx) => {
    if ((await countRows(tx, job.id)) !== total) throw new AnotherAtWork();
    await markStaged(tx, job.id, { total, refused }, clock.now());
  });
  return true;
}

/** Those whose parent came after them are at fault unless it is there already. */
async function lateRows(sql: Sql, job: ImportRow, outline: Outline): Promise<readonly Late[]> {
  const late = outline.late();
  const there = new Set<string>();
  for (const [kind, own] of Map.groupBy(late, ({ parent }) => parent?.kind)) {
    if (kind === undefined) continue;
    const refs = [...new Set(own.flatMap(({ parent }) => parent?.ref ?? []))];
    for (let start = 0; start < refs.length; start += atOnce)
      for (const ref of await findThere(sql, kindOf(kind), job, refs.slice(start, start + atOnce)))
        there.add(`${kind} ${ref}`);
  }
  return late.filter(({ parent }) => !parent || !there.has(`${parent.kind} ${parent.ref}`));
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
    for (const { zone, location } of await findLocationsOfZones(sql, job, unknown)) outline.adopt(zone, location);
  return read.map(({ row, ...one }) => {
    const { unit, reason } = outline.place(row, one);
    return {
      import_id: job.id,
      row,
      kind: one.kind ?? '',
      external_id: one.ref,
      parent: one.parent ?? null,
      unit: unit ?? null,
      fields: one.fields,
      reason: (one.reason ?? reason)?.toWellFormed() ?? null,
    };
  });
}

/** As much of a name as any may have, which is 200 code points; a longer one may be cut in the middle of one. */
const cut = (ref: string) => ref.slice(0, 400).toWellFormed();

const inZones = (kind: ReadRow['kind']) => kind === undefined || parentKinds[kind] === 'zone';

const nothing = { kind: undefined, ref: '', parent: undefined, fields: {} };

/** Names are cut before anything is kept of them: there may be a hundred thousand, of megabytes. */
function readOne(one: ReadRecord, media: string): ReadRow {
  if ('error' in one) return { ...nothing, reason: one.error };
  const read = readRow(one.record, media);
  return { ...read, ref: cut(read.ref), parent: read.parent === undefined ? undefined : cut(read.parent) };
}
