import { type EstateKind, estateColumns } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { type Clock, createPace, type Pace } from '@attribution/runtime';
import type { OrganizationDatabase } from '../store.ts';
import { findExisting, findLocationsOfZones, kindOf } from './apply.store.ts';
import { countStagedRows, deleteSomeBatches, findBatches, insertStagedRows } from './batch.store.ts';
import { createBatches, type StagedRow } from './batches.ts';
import { chunked } from './chunked.ts';
import { ConcurrentWorker, type ImportRow, lockUnstaged, markStaged, readChunks } from './import.store.ts';
import { createOutline, type Outline } from './outline.ts';
import { readRecords } from './read-records.ts';
import type { ReadRecord } from './records.ts';
import {
  countRefused,
  deleteRefused,
  findRefusedAmong,
  giveReasons,
  insertRefused,
  type RefusedRow,
} from './refused-row.store.ts';
import { parentKinds, type ReadRow, readRow } from './row.ts';

interface StageDependencies {
  readonly database: OrganizationDatabase;
  readonly clock: Clock;
}

/** Refs that are looked up, or batches that are deleted by one statement. */
const rowsPerStatement = 5_000;
/** Staged rows that are read at once. */
const rowsPerRead = 1_000;

/**
 * Reads the file: checks each row, assigns it to a unit, and stores it in a batch or among the refused rows. A second
 * attempt deletes what the first one has stored. Returns false if `stopping` was aborted before the end. Throws
 * `validation-error` if the file cannot be read to its end.
 */
export async function stage(
  { database, clock }: StageDependencies,
  job: ImportRow,
  stopping: AbortSignal,
): Promise<boolean> {
  const { sql } = database;
  /** Runs work under the lock of the import, even if another worker believes to be the only one. */
  const locked = <T>(work: (tx: Sql) => Promise<T>) =>
    database.sqlTransaction(async (tx) => {
      if (!(await lockUnstaged(tx, job.id))) throw new ConcurrentWorker();
      return work(tx);
    });
  while ((await locked((tx) => deleteSomeBatches(tx, job.id, rowsPerStatement))) > 0);
  while ((await locked((tx) => deleteRefused(tx, job.id, rowsPerStatement))) > 0);
  const outline = createOutline();
  const batches = createBatches();
  const pace = createPace();
  const total = { staged: 0, refused: 0 };
  let refused: RefusedRow[] = [];
  const write = async () => {
    const [staged, faulty] = [batches.take(), refused];
    refused = [];
    for (const { size } of staged) total.staged += size;
    total.refused += await locked(async (tx) => {
      await insertStagedRows(tx, job.id, staged);
      return insertRefused(tx, job.id, faulty);
    });
  };
  /** The write that runs while more of the file is read; it has ended when this function returns or throws. */
  let writing = Promise.resolve();
  try {
    for await (const records of readRecords(readChunks(sql, job.id), job.media, estateColumns)) {
      if (stopping.aborted) return false;
      for (const row of await checkRows(database, job, outline, pace, records)) {
        if (isClean(row)) batches.add(row);
        else refused.push(withoutFields(row));
      }
      // After each slice, because rows may be large, and what memory holds for long makes full collections longer.
      await writing;
      writing = write();
      writing.catch(() => {});
    }
  } finally {
    // If the write failed, throw its error rather than one of reading: a concurrent worker may have deleted the file.
    await writing;
  }
  await write();
  const rows = total.staged + total.refused;
  const late = outline.lateFaults();
  // Those that are refused already come first: the staged ones are among the refused afterwards.
  for (const rows of chunked([...late.keys()], rowsPerStatement))
    await locked(async (tx) => {
      const refused = await findRefusedAmong(tx, job.id, rows);
      await insertRefused(tx, job.id, await lateRefused(tx, job, late, refused));
    });
  for await (const staged of stagedAmong(sql, job.id, late))
    total.refused += await locked(async (tx) => insertRefused(tx, job.id, await lateRefused(tx, job, late, staged)));
  while ((await locked((tx) => giveReasons(tx, job.id, rowsPerStatement))) > 0);
  await locked(async (tx) => {
    const found = [await countStagedRows(tx, job.id), await countRefused(tx, job.id)];
    if (found[0] !== total.staged || found[1] !== total.refused) throw new ConcurrentWorker();
    await markStaged(tx, job.id, { total: rows, refused: total.refused }, clock.now());
  });
  return true;
}

/** A row with its unit, or with the reason why it is refused. */
type CheckedRow = RefusedRow & Pick<StagedRow, 'fields'>;
const withoutFields = ({ fields: _, ...row }: CheckedRow): RefusedRow => row;
const isClean = (row: CheckedRow): row is CheckedRow & StagedRow => row.unit !== undefined && row.reason === undefined;

/** The staged rows that have a late fault. Their names are read back, because memory has none of them. */
async function* stagedAmong(sql: Sql, importId: string, late: LateFaults): AsyncGenerator<readonly StagedRow[]> {
  for (const groups of [true, false])
    for (let after = -1; late.size > 0; ) {
      const batches = await findBatches(sql, importId, { groups, batch: after }, rowsPerRead);
      if (batches.length === 0) break;
      after = batches.at(-1)?.batch ?? after;
      yield batches.flatMap(({ rows }) => rows).filter(({ row }) => late.has(row));
    }
}

/** Those of the rows that their late faults refuse. A row before its parent is accepted if the parent exists already. */
async function lateRefused(
  tx: Sql,
  job: ImportRow,
  late: LateFaults,
  rows: readonly Named[],
): Promise<(RefusedRow & Named)[]> {
  const existing = new Set<string>();
  for (const [kind, own] of Map.groupBy(rows, parentKindOf)) {
    if (kind === undefined) continue;
    const refs = [...new Set(own.flatMap(({ parent }) => parent ?? []))];
    for (const ref of await findExisting(tx, kindOf(kind), job, refs)) existing.add(`${kind} ${ref}`);
  }
  return rows.flatMap((one) => {
    const isExcused = existing.has(`${parentKindOf(one)} ${one.parent}`);
    const fault = late.get(one.row)?.find(({ isOrder }) => !isOrder || !isExcused);
    if (!fault) return [];
    const { row, kind, external_id, parent } = one;
    return [{ row, kind, external_id, parent, unit: fault.unit, reason: fault.reason }];
  });
}

type LateFaults = ReturnType<Outline['lateFaults']>;
type Named = Pick<RefusedRow, 'row' | 'kind' | 'external_id'> & { readonly parent: string | null };

/** The kind of a row's parent; undefined if it has none, or if its own kind is unknown. */
const parentKindOf = ({ kind }: Named) => parentKinds[kind as EstateKind] as EstateKind | undefined;

/** Turns records into rows with their units, or with the reason why they are refused. */
async function checkRows(
  { sql }: OrganizationDatabase,
  job: ImportRow,
  outline: Outline,
  pace: Pace,
  records: readonly ReadRecord[],
): Promise<CheckedRow[]> {
  const read = await pace.map(records, (one) => ({ row: one.row, ...readRecord(one, job.media) }));
  const zones = read.flatMap(({ kind, parent }) => (mayBeInZone(kind) && parent !== undefined ? [parent] : []));
  const unknown = [...new Set(zones)].filter((ref) => !outline.has('zone', ref));
  if (unknown.length > 0)
    for (const { zone, location } of await findLocationsOfZones(sql, job, unknown))
      outline.addExistingZone(zone, location);
  return pace.map(read, ({ row, ...one }) => {
    const { unit, reason } = outline.assign(row, one);
    return {
      row,
      kind: one.kind ?? '',
      external_id: one.ref,
      parent: one.parent ?? null,
      unit,
      fields: one.fields,
      reason: (one.reason ?? reason)?.toWellFormed(),
    };
  });
}

/** In code points: one more than the longest valid ref has, so that what is cut stays invalid and equals no valid one. */
const longestRef = 201;

/** A ref or its beginning, as a copy, because a slice of a string keeps the whole string in memory. */
function truncate(ref: string): string {
  let end = 0;
  for (let points = 0; points < longestRef && end < ref.length; points++)
    end += (ref.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return Buffer.from(ref.slice(0, end)).toString();
}

const mayBeInZone = (kind: ReadRow['kind']) => kind === undefined || parentKinds[kind] === 'zone';

const unreadable = { kind: undefined, ref: '', parent: undefined, fields: {} };

/** Truncates refs, because the outline keeps all of them: there may be 100,000, of megabytes each. */
function readRecord(one: ReadRecord, media: string): ReadRow {
  if ('error' in one) return { ...unreadable, reason: one.error };
  const read = readRow(one.record, media);
  return { ...read, ref: truncate(read.ref), parent: read.parent === undefined ? undefined : truncate(read.parent) };
}
