import { estateColumns } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import type { Clock } from '@attribution/runtime';
import type { OrganizationDatabase } from '../store.ts';
import { findLocationsOfZones, findThere, kindOf } from './apply.store.ts';
import { AnotherAtWork, type ImportRow, lockUnstaged, markStaged, readParts } from './import.store.ts';
import { countStaged, deleteSomeLots, insertPieces } from './lot.store.ts';
import { createLots, type StagedRow } from './lots.ts';
import { createOutline, type Outline } from './outline.ts';
import { readRecords } from './read-records.ts';
import type { ReadRecord } from './records.ts';
import { countRefused, deleteRefused, giveReasons, insertRefused, type RefusedRow } from './refused-row.store.ts';
import { parentKinds, type ReadRow, readRow } from './row.ts';

interface Staging {
  readonly database: OrganizationDatabase;
  readonly clock: Clock;
}

/** Rows of one transaction. */
const atOnce = 5_000;

/**
 * Reads the file: each row is checked by itself, told where it belongs, and kept in a lot, or among those refused. Begun
 * again, it begins anew; false when it was told to stop. Throws `validation-error` for a file that cannot be read to its
 * end.
 */
export async function stage({ database, clock }: Staging, job: ImportRow, stopping: AbortSignal): Promise<boolean> {
  const { sql } = database;
  /** One at a time, whoever believes to be the only one. */
  const inOne = <T>(work: (tx: Sql) => Promise<T>) =>
    database.sqlTransaction(async (tx) => {
      if (!(await lockUnstaged(tx, job.id))) throw new AnotherAtWork();
      return work(tx);
    });
  while ((await inOne((tx) => deleteSomeLots(tx, job.id, atOnce))) > 0);
  while ((await inOne((tx) => deleteRefused(tx, job.id, atOnce))) > 0);
  const outline = createOutline();
  const lots = createLots();
  const total = { staged: 0, refused: 0 };
  let refused: RefusedRow[] = [];
  const write = async () => {
    const [pieces, faulty] = [lots.take(), refused];
    refused = [];
    for (const { size } of pieces) total.staged += size;
    total.refused += await inOne(async (tx) => {
      await insertPieces(tx, job.id, pieces);
      return insertRefused(tx, job.id, faulty);
    });
  };
  /** What was read is written while more is read; nothing of it is under way when this function has ended. */
  let writing = Promise.resolve();
  try {
    for await (const records of readRecords(readParts(sql, job.id), job.media, estateColumns)) {
      if (stopping.aborted) return false;
      for (const row of await placeRows(database, job, outline, records)) {
        if (isClean(row)) lots.add(row);
        else refused.push(withoutFields(row));
      }
      if (lots.gathered + refused.length < atOnce) continue;
      await writing;
      writing = write();
      writing.catch(() => {});
    }
  } finally {
    // Its fault comes first: who writes where another is at work may have read but half of the file.
    await writing;
  }
  await write();
  const rows = total.staged + total.refused;
  const late = await lateRows(sql, job, outline);
  for (let start = 0; start < late.length; start += atOnce)
    total.refused += await inOne((tx) => insertRefused(tx, job.id, late.slice(start, start + atOnce)));
  while ((await inOne((tx) => giveReasons(tx, job.id, atOnce))) > 0);
  await inOne(async (tx) => {
    const found = [await countStaged(tx, job.id), await countRefused(tx, job.id)];
    if (found[0] !== total.staged || found[1] !== total.refused) throw new AnotherAtWork();
    await markStaged(tx, job.id, { total: rows, refused: total.refused }, clock.now());
  });
  return true;
}

/** A row that nothing is wrong with as far as it shows by itself. */
type Placed = RefusedRow & Pick<StagedRow, 'fields'>;
const withoutFields = ({ fields: _, ...row }: Placed): RefusedRow => row;
const isClean = (row: Placed): row is Placed & StagedRow => row.unit !== undefined && row.reason === undefined;

/** Those whose parent came after them are at fault unless it is there already. */
async function lateRows(sql: Sql, job: ImportRow, outline: Outline): Promise<readonly RefusedRow[]> {
  const late = outline.late();
  const there = new Set<string>();
  for (const [kind, own] of Map.groupBy(late, ({ parent }) => parent?.kind)) {
    if (kind === undefined) continue;
    const refs = [...new Set(own.flatMap(({ parent }) => parent?.ref ?? []))];
    for (let start = 0; start < refs.length; start += atOnce)
      for (const ref of await findThere(sql, kindOf(kind), job, refs.slice(start, start + atOnce)))
        there.add(`${kind} ${ref}`);
  }
  const known = new Map<number, RefusedRow>();
  for (const { row, kind, ref, unit, reason, parent } of late)
    if (!known.has(row) && !(parent && there.has(`${parent.kind} ${parent.ref}`)))
      known.set(row, { row, kind, external_id: ref, unit, reason });
  return [...known.values()];
}

/** Records as rows, each with what is wrong with it. */
async function placeRows(
  { sql }: OrganizationDatabase,
  job: ImportRow,
  outline: Outline,
  records: readonly ReadRecord[],
): Promise<Placed[]> {
  const read = records.map((one) => ({ row: one.row, ...readOne(one, job.media) }));
  const zones = read.flatMap(({ kind, parent }) => (inZones(kind) && parent !== undefined ? [parent] : []));
  const unknown = [...new Set(zones)].filter((ref) => !outline.has('zone', ref));
  if (unknown.length > 0)
    for (const { zone, location } of await findLocationsOfZones(sql, job, unknown)) outline.adopt(zone, location);
  return read.map(({ row, ...one }) => {
    const { unit, reason } = outline.place(row, one);
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

/**
 * As much of a name as any may have, which is 200 code points; a longer one may be cut in the middle of one. A copy, as
 * a part of a text keeps all of it in memory.
 */
const cut = (ref: string) => Buffer.from(ref.slice(0, 400).toWellFormed()).toString();

const inZones = (kind: ReadRow['kind']) => kind === undefined || parentKinds[kind] === 'zone';

const nothing = { kind: undefined, ref: '', parent: undefined, fields: {} };

/** Names are cut before anything is kept of them: there may be a hundred thousand, of megabytes. */
function readOne(one: ReadRecord, media: string): ReadRow {
  if ('error' in one) return { ...nothing, reason: one.error };
  const read = readRow(one.record, media);
  return { ...read, ref: cut(read.ref), parent: read.parent === undefined ? undefined : cut(read.parent) };
}
