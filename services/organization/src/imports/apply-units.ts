import type { Sql } from '@attribution/database';
import type { Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/service';
import type { OrganizationDatabase } from '../store.ts';
import { applyRows, Faults, Refusal } from './apply.ts';
import { addCounts, type Counts, type ImportRow, lockImport } from './import.store.ts';
import {
  closeRows,
  type Fault,
  findGroupRows,
  findUndone,
  noteFaults,
  refuseRows,
  type StagedRow,
} from './staged-row.store.ts';

export interface ApplyParts {
  readonly database: OrganizationDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** A turn over what is to be done; on the last one nothing is set aside. */
interface Turn extends ApplyParts {
  readonly last: boolean;
}

/** Rows of one transaction, unless a unit has more. */
const atOnce = 1_500;

/**
 * Groups come before all else. Of the rest, what the database refuses is set aside and tried once more behind all
 * others: they may have let go of what it wants.
 */
const turns = [
  { groups: true, last: true },
  { groups: false, last: false },
  { groups: false, last: true },
] as const;

/** Transactions at once: one is prepared while the database is at work on another. Those of a dry run share groups. */
const widthOf = ({ dry_run }: ImportRow) => (dry_run ? 1 : 3);

/** Sets up all units that are not done yet; false when it was told to stop. */
export async function applyUnits(parts: ApplyParts, job: ImportRow, stopping: AbortSignal): Promise<boolean> {
  for (const { groups, last } of turns) {
    const next = lots(parts.database.sql, job.id, groups);
    const lane = async () => {
      for (let rows = await next(); rows.length > 0 && !stopping.aborted; rows = await next())
        await applyTogether({ ...parts, last }, job, rows);
    };
    // All of them have ended before anything else begins, whatever became of one.
    const lanes = await Promise.allSettled(Array.from({ length: widthOf(job) }, lane));
    for (const ended of lanes) if (ended.status === 'rejected') throw ended.reason;
    if (stopping.aborted) return false;
  }
  return true;
}

/** Gives out what is not done yet, some whole units at a time; nothing at the end. */
function lots(sql: Sql, importId: string, groups: boolean): () => Promise<readonly StagedRow[]> {
  let after = 0;
  let before: Promise<unknown> = Promise.resolve();
  const take = async () => {
    const rows = await nextUnits(sql, importId, { groups, after });
    after = rows.at(-1)?.unit ?? after;
    return rows;
  };
  return () => {
    const taken = before.then(take);
    before = taken.catch(() => {});
    return taken;
  };
}

/** Whole units, one at least where any is left. */
async function nextUnits(
  sql: Sql,
  importId: string,
  from: { readonly groups: boolean; readonly after: number },
): Promise<readonly StagedRow[]> {
  const rows = await findUndone(sql, importId, { ...from, limit: atOnce });
  const [first] = rows;
  if (!first || rows.length < atOnce) return rows;
  const cut = rows.at(-1)?.unit;
  const whole = rows.filter(({ unit }) => unit !== cut);
  return whole.length > 0 ? whole : findUndone(sql, importId, { unit: first.unit });
}

/**
 * Units in one transaction. Those with a row at fault are refused, and the others tried again; where the database
 * refuses something, it does not say of which row: then fewer at once.
 */
async function applyTogether(parts: Turn, job: ImportRow, rows: readonly StagedRow[], again = true): Promise<void> {
  if (rows.length === 0) return;
  try {
    await applyOnce(parts, job, rows);
  } catch (error) {
    if (error instanceof Faults) {
      await refuseUnits(parts, job, rows, error.faults);
      const faulty = new Set(error.faults.map(({ unit }) => unit));
      return applyTogether(
        parts,
        job,
        rows.filter(({ unit }) => !faulty.has(unit)),
      );
    }
    if (!(error instanceof Refusal)) throw error;
    // Somebody else may have made the same thing at this moment: now it is there.
    if (again) return applyTogether(parts, job, rows, false);
    await applyFewer(parts, job, rows, error);
  }
}

async function applyFewer(parts: Turn, job: ImportRow, rows: readonly StagedRow[], refusal: Refusal): Promise<void> {
  const units = [...Map.groupBy(rows, ({ unit }) => unit).values()];
  if (units.length === 1) {
    if (!parts.last) return;
    const named = refusal.row && rows.includes(refusal.row) ? refusal.row : rows[0];
    const reason = refusal.problem.detail.replace(/^body\./, '');
    return refuseUnits(parts, job, rows, named ? [{ row: named.row, unit: named.unit, reason }] : []);
  }
  const middle = Math.ceil(units.length / 2);
  await applyTogether(parts, job, units.slice(0, middle).flat(), false);
  await applyTogether(parts, job, units.slice(middle).flat(), false);
}

/** What a dry run would have done; thrown, so that nothing of it is kept. */
class Tried extends Error {
  readonly counts: Counts;

  constructor(counts: Counts) {
    super('This was a dry run');
    this.counts = counts;
  }
}

async function applyOnce({ database, outbox, clock }: ApplyParts, job: ImportRow, rows: readonly StagedRow[]) {
  const now = clock.now();
  const close = async (tx: Sql, counts: Counts) => {
    await closeRows(tx, job.id, rows, { keepGroups: job.dry_run });
    await addCounts(tx, job.id, counts);
  };
  try {
    await database.sqlTransaction(async (tx) => {
      if (!(await lockImport(tx, job.id))) return;
      const before = job.dry_run ? await groupsAbove(tx, job.id, rows) : [];
      const counted = await applyRows({ tx, outbox, job, now }, rows, before);
      const counts = { ...counted, refused: 0 };
      if (job.dry_run) throw new Tried(counts);
      await close(tx, counts);
    });
  } catch (error) {
    if (!(error instanceof Tried)) throw error;
    await database.sqlTransaction(async (tx) => {
      if (await lockImport(tx, job.id)) await close(tx, error.counts);
    });
  }
}

/** A dry run keeps no group: those of earlier rows that these rows are in are set up with them once more. */
async function groupsAbove(tx: Sql, importId: string, rows: readonly StagedRow[]): Promise<StagedRow[]> {
  const own = new Set(rows.filter(({ kind }) => kind === 'group').map(({ external_id }) => external_id));
  const named = rows.flatMap(({ kind, parent }) => (kind === 'location' && parent !== null ? [parent] : []));
  const missing = [...new Set(named)].filter((ref) => !own.has(ref));
  return missing.length > 0 ? findGroupRows(tx, importId, missing) : [];
}

async function refuseUnits(
  { database }: ApplyParts,
  job: ImportRow,
  rows: readonly StagedRow[],
  faults: readonly Fault[],
): Promise<void> {
  const units = [...Map.groupBy(faults, ({ unit }) => unit)].map(([unit, [first]]) => ({
    unit: Number(unit),
    row: first?.row ?? 0,
  }));
  const numbers = rows.map(({ row }) => row);
  await database.sqlTransaction(async (tx) => {
    if (!(await lockImport(tx, job.id))) return;
    await noteFaults(tx, job.id, faults);
    const refused = await refuseRows(tx, job.id, units, Math.min(...numbers), Math.max(...numbers));
    await addCounts(tx, job.id, { created: 0, updated: 0, unchanged: 0, refused });
  });
}
