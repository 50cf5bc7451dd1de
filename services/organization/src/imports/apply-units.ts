import type { EstateKind } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import type { Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import type { OrganizationDatabase } from '../store.ts';
import { findBare } from './apply.store.ts';
import { applyRows, type Fault, Faults, Refusal } from './apply.ts';
import { addCounts, type Counts, type ImportRow, lockImport } from './import.store.ts';
import { closeUnits, deleteLots, findClosed, findGroupRows, findLots, type Lot, spanOf } from './lot.store.ts';
import type { StagedRow } from './lots.ts';
import { findFaulty, insertRefused } from './refused-row.store.ts';

export interface ApplyParts {
  readonly database: OrganizationDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** A turn over what is to be done; on the last one nothing is set aside. */
interface Turn extends ApplyParts {
  readonly last: boolean;
  readonly bare: ReadonlySet<EstateKind>;
  /** Units that are left for the last turn. */
  readonly aside: Set<number>;
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
  const bare = await findBare(parts.database.sql, job.account_id);
  for (const { groups, last } of turns) {
    const next = inTurn(parts.database.sql, job.id, groups);
    const turn = { ...parts, last, bare, aside: new Set<number>() };
    const lane = async () => {
      for (let lots = await next(); lots.length > 0 && !stopping.aborted; lots = await next())
        await applyLots(turn, job, groups, lots);
    };
    // All of them have ended before anything else begins, whatever became of one.
    const lanes = await Promise.allSettled(Array.from({ length: widthOf(job) }, lane));
    for (const ended of lanes) if (ended.status === 'rejected') throw ended.reason;
    if (stopping.aborted) return false;
  }
  return true;
}

/** Gives out lots in their order, some at a time; none at the end. */
function inTurn(sql: Sql, importId: string, groups: boolean): () => Promise<readonly Lot[]> {
  let after = -1;
  let before: Promise<unknown> = Promise.resolve();
  const take = async () => {
    const lots = await findLots(sql, importId, { groups, lot: after }, atOnce);
    after = lots.at(-1)?.lot ?? after;
    return lots;
  };
  return () => {
    const taken = before.then(take);
    before = taken.catch(() => {});
    return taken;
  };
}

/** Sets up what is left to do of lots, and forgets those of which nothing is. */
async function applyLots(turn: Turn, job: ImportRow, groups: boolean, lots: readonly Lot[]): Promise<void> {
  const { sql } = turn.database;
  const all = lots.flatMap(({ rows }) => rows);
  const closed = await findClosed(sql, job.id, unitsOf(all));
  const open = all.filter(({ unit }) => !closed.has(unit));
  const faulty = await findFaulty(sql, job.id, unitsOf(open));
  for (const rows of runsOf(open.filter(({ unit }) => faulty.has(unit))))
    await refuseUnits(turn, job, rows, (unit) => faulty.get(unit));
  for (const rows of runsOf(open.filter(({ unit }) => !faulty.has(unit)))) await applyTogether(turn, job, rows);
  // A dry run sets its groups up again with each lot of their locations.
  if (groups && job.dry_run) return;
  const numbers = lots.map(({ lot }) => lot);
  const [from, to] = spanOf(numbers);
  const kept = lots.filter(({ rows }) => rows.some(({ unit }) => turn.aside.has(unit))).map(({ lot }) => lot);
  await deleteLots(sql, job.id, { groups, from, to, kept });
}

/** Whole units, as many as have `atOnce` rows together; one at least. */
function* runsOf(rows: readonly StagedRow[]): Generator<readonly StagedRow[]> {
  let run: StagedRow[] = [];
  for (const unit of Map.groupBy(rows, ({ unit }) => unit).values()) {
    if (run.length > 0 && run.length + unit.length > atOnce) {
      yield run;
      run = [];
    }
    run.push(...unit);
  }
  if (run.length > 0) yield run;
}

const unitsOf = (rows: readonly StagedRow[]) => [...new Set(rows.map(({ unit }) => unit))];

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
      await refuseFaulty(parts, job, rows, error.faults);
      const faulty = new Set(error.faults.map(({ unit }) => unit));
      return applyTogether(
        parts,
        job,
        rows.filter(({ unit }) => !faulty.has(unit)),
      );
    }
    if (!(error instanceof Refusal)) throw error;
    // Somebody else may have made the same thing at this moment: now it is there.
    if (again) return applyTogether({ ...parts, bare: none }, job, rows, false);
    await applyFewer(parts, job, rows, error);
  }
}

async function applyFewer(parts: Turn, job: ImportRow, rows: readonly StagedRow[], refusal: Refusal): Promise<void> {
  const units = [...Map.groupBy(rows, ({ unit }) => unit).values()];
  if (units.length === 1) {
    if (!parts.last) {
      for (const unit of unitsOf(rows)) parts.aside.add(unit);
      return;
    }
    const named = refusal.row && rows.includes(refusal.row) ? refusal.row : rows[0];
    const reason = refusal.problem.detail.replace(/^body\./, '');
    return refuseFaulty(parts, job, rows, named ? [{ row: named.row, unit: named.unit, reason }] : []);
  }
  const middle = Math.ceil(units.length / 2);
  await applyTogether(parts, job, units.slice(0, middle).flat(), false);
  await applyTogether(parts, job, units.slice(middle).flat(), false);
}

const none: ReadonlySet<EstateKind> = new Set();

/** What a dry run would have done; thrown, so that nothing of it is kept. */
class Tried extends Error {
  readonly counts: Counts;

  constructor(counts: Counts) {
    super('This was a dry run');
    this.counts = counts;
  }
}

async function applyOnce({ database, outbox, clock, bare }: Turn, job: ImportRow, rows: readonly StagedRow[]) {
  const now = clock.now();
  try {
    await database.sqlTransaction(async (tx) => {
      if (!(await lockImport(tx, job.id))) return;
      await closeUnits(tx, job.id, unitsOf(rows));
      const before = job.dry_run ? await groupsAbove(tx, job.id, rows) : [];
      const counted = await applyRows({ tx, outbox, job, now, bare }, rows, before);
      const counts = { ...counted, refused: 0 };
      if (job.dry_run) throw new Tried(counts);
      await addCounts(tx, job.id, counts);
    });
  } catch (error) {
    if (!(error instanceof Tried)) throw error;
    await database.sqlTransaction(async (tx) => {
      if (!(await lockImport(tx, job.id))) return;
      await closeUnits(tx, job.id, unitsOf(rows));
      await addCounts(tx, job.id, error.counts);
    });
  }
}

/** A dry run keeps no group: those of earlier rows that these rows are in are set up with them once more. */
async function groupsAbove(tx: Sql, importId: string, rows: readonly StagedRow[]): Promise<StagedRow[]> {
  const own = new Set(rows.filter(({ kind }) => kind === 'group').map(({ external_id }) => external_id));
  const named = rows.flatMap(({ kind, parent }) => (kind === 'location' && parent !== null ? [parent] : []));
  const missing = [...new Set(named)].filter((ref) => !own.has(ref));
  if (missing.length === 0) return [];
  const groups = await findGroupRows(tx, importId, missing);
  const refused = await findFaulty(tx, importId, unitsOf(groups));
  return groups.filter(({ unit }) => !refused.has(unit));
}

/** Refuses the units that have a row at fault. */
async function refuseFaulty(
  parts: ApplyParts,
  job: ImportRow,
  rows: readonly StagedRow[],
  faults: readonly Fault[],
): Promise<void> {
  const first = new Map(faults.toReversed().map(({ unit, row }) => [unit, row]));
  const reasons = new Map(faults.map(({ row, reason }) => [row, reason]));
  const theirs = rows.filter(({ unit }) => first.has(unit));
  await refuseUnits(parts, job, theirs, (unit) => first.get(unit), reasons);
}

/** Refuses units, whole; `first`: their row that is at fault. */
async function refuseUnits(
  { database }: ApplyParts,
  job: ImportRow,
  rows: readonly StagedRow[],
  first: (unit: number) => number | undefined,
  reasons: ReadonlyMap<number, string> = new Map(),
): Promise<void> {
  const refused = rows.map(({ row, kind, external_id, unit }) => {
    const reason = reasons.get(row) ?? `Row ${first(unit)} of the same location is at fault.`;
    return { row, kind, external_id, unit, reason };
  });
  await database.sqlTransaction(async (tx) => {
    if (!(await lockImport(tx, job.id))) return;
    await closeUnits(tx, job.id, unitsOf(rows));
    const count = await insertRefused(tx, job.id, refused);
    await addCounts(tx, job.id, { created: 0, updated: 0, unchanged: 0, refused: count });
  });
}
