import type { EstateKind } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import type { Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import pLimit from 'p-limit';
import type { OrganizationDatabase } from '../store.ts';
import { findEmptyKinds } from './apply.store.ts';
import { type Applied, applyRows, DatabaseRefusal, type Fault, Faults } from './apply.ts';
import {
  type Batch,
  deleteBatches,
  findBatches,
  findDoneUnits,
  findGroupRows,
  markUnitsDone,
  spanOf,
} from './batch.store.ts';
import type { StagedRow } from './batches.ts';
import { addCounts, type ImportRow, lockImport } from './import.store.ts';
import { findFaulty, insertRefused } from './refused-row.store.ts';
import { addZones, type ZoneFinder, ZonesUnknown, zoneFaults } from './zones-of-points.ts';

export interface ApplyDependencies {
  readonly database: OrganizationDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** What applies the units of an import. */
export interface ApplyUnits extends ApplyDependencies {
  readonly findZones: ZoneFinder;
  /** Whether locations whose zone Utilities does not say are refused. If not, `ZonesUnknown` is thrown for them. */
  readonly refusesUnknownZones: boolean;
}

/** What one pass over the batches works with. */
interface Pass extends ApplyUnits {
  /** Whether the pass refuses what the database refuses, instead of deferring it. */
  readonly last: boolean;
  /** See `ApplyContext`. */
  readonly emptyKinds: ReadonlySet<EstateKind>;
  /** Units that this pass leaves for the last one. */
  readonly deferred: Set<number>;
  /** See `ApplyContext`. */
  readonly rolledBack: Map<EstateKind, number>;
}

/** A transaction has at most this many rows, unless a single unit has more. */
const rowsPerTransaction = 1_500;

/**
 * Groups come first. A unit that the database refuses is deferred and tried again after all others, because one of them
 * may release what it needs (a device that is live elsewhere, for instance).
 */
const passes = [
  { groups: true, last: true },
  { groups: false, last: false },
  { groups: false, last: true },
] as const;

/**
 * Transactions that run at once: one is prepared while the database works on another. A dry run has only one, because
 * its transactions set up the same groups.
 */
const concurrencyOf = ({ dry_run }: ImportRow) => (dry_run ? 1 : 3);

/** How long an import may go on before others have their turn. */
interface Turn {
  readonly ms: number;
  readonly stopping: AbortSignal;
}

/**
 * Sets up all units that are not done yet. Returns false if its turn was over before: it stops between two batches, and not
 * before the first, however slow the database is, or no turn would bring it further.
 */
export async function applyUnits(deps: ApplyUnits, job: ImportRow, { ms, stopping }: Turn): Promise<boolean> {
  const end = performance.now() + ms;
  let progressed = false;
  const isOver = () => stopping.aborted || (progressed && performance.now() > end);
  const emptyKinds = await findEmptyKinds(deps.database.sql, job.account_id);
  const rolledBack = new Map<EstateKind, number>();
  for (const { groups, last } of passes) {
    const next = batchReader(deps.database.sql, job.id, groups);
    const pass = { ...deps, last, emptyKinds, rolledBack, deferred: new Set<number>() };
    const applyRemaining = async () => {
      for (let batches = await next(); batches.length > 0 && !isOver(); batches = await next()) {
        await applyBatches(pass, job, groups, batches);
        progressed = true;
      }
    };
    // When one fails, the others must end too before anything else begins.
    const ended = await Promise.allSettled(Array.from({ length: concurrencyOf(job) }, applyRemaining));
    for (const result of ended) if (result.status === 'rejected') throw result.reason;
    if (isOver()) return false;
  }
  return true;
}

/** Returns a function that reads the next batches, in order, however many callers it has; none at the end. */
function batchReader(sql: Sql, importId: string, groups: boolean): () => Promise<readonly Batch[]> {
  let after = -1;
  const oneAtATime = pLimit(1);
  const read = async () => {
    const batches = await findBatches(sql, importId, { groups, batch: after }, rowsPerTransaction);
    after = batches.at(-1)?.batch ?? after;
    return batches;
  };
  return () => oneAtATime(read);
}

/** Sets up the units of batches that are not done yet, and deletes the batches without deferred units. */
async function applyBatches(pass: Pass, job: ImportRow, groups: boolean, batches: readonly Batch[]): Promise<void> {
  const { sql } = pass.database;
  const all = batches.flatMap(({ rows }) => rows);
  const done = await findDoneUnits(sql, job.id, unitsOf(all));
  const open = all.filter(({ unit }) => !done.has(unit));
  const faulty = await findFaulty(sql, job.id, unitsOf(open));
  for (const rows of transactionsOf(open.filter(({ unit }) => faulty.has(unit))))
    await refuseUnits(pass, job, rows, (unit) => faulty.get(unit));
  const whole = open.filter(({ unit }) => !faulty.has(unit));
  const { rows: zoned, unknown } = await addZones(pass, job, whole);
  if (unknown.length > 0 && !pass.refusesUnknownZones) throw new ZonesUnknown();
  const refused = new Set(unitsOf(unknown));
  for (const rows of transactionsOf(zoned.filter(({ unit }) => refused.has(unit))))
    await refuseFaulty(pass, job, rows, zoneFaults(unknown));
  for (const rows of transactionsOf(zoned.filter(({ unit }) => !refused.has(unit))))
    await applyOrRefuse(pass, job, rows);
  // A dry run needs its groups again, for each batch of their locations.
  if (groups && job.dry_run) return;
  const [from, to] = spanOf(batches.map(({ batch }) => batch));
  const kept = batches.filter(({ rows }) => rows.some(({ unit }) => pass.deferred.has(unit))).map(({ batch }) => batch);
  await deleteBatches(sql, job.id, { groups, from, to, kept });
}

/** Divides rows into transactions: whole units, with at most `rowsPerTransaction` rows together, or a single unit. */
function* transactionsOf(rows: readonly StagedRow[]): Generator<readonly StagedRow[]> {
  let gathered: StagedRow[] = [];
  for (const unit of Map.groupBy(rows, ({ unit }) => unit).values()) {
    if (gathered.length > 0 && gathered.length + unit.length > rowsPerTransaction) {
      yield gathered;
      gathered = [];
    }
    gathered.push(...unit);
  }
  if (gathered.length > 0) yield gathered;
}

const unitsOf = (rows: readonly StagedRow[]) => [...new Set(rows.map(({ unit }) => unit))];

/**
 * Sets up units in one transaction. If rows of them are faulty, their units are refused and the others tried again. If
 * the database refuses something, it does not say which row is to blame: then each half is tried by itself.
 */
async function applyOrRefuse(pass: Pass, job: ImportRow, rows: readonly StagedRow[], retry = true): Promise<void> {
  if (rows.length === 0) return;
  try {
    await applyTransaction(pass, job, rows);
  } catch (error) {
    if (error instanceof Faults) {
      await refuseFaulty(pass, job, rows, error.faults);
      const faulty = new Set(error.faults.map(({ unit }) => unit));
      return applyOrRefuse(
        pass,
        job,
        rows.filter(({ unit }) => !faulty.has(unit)),
      );
    }
    if (!(error instanceof DatabaseRefusal)) throw error;
    // Somebody else may have created the same thing just now: the second try finds it and updates it.
    if (retry) return applyOrRefuse({ ...pass, emptyKinds: noKinds }, job, rows, false);
    await applyHalves(pass, job, rows, error);
  }
}

async function applyHalves(
  pass: Pass,
  job: ImportRow,
  rows: readonly StagedRow[],
  refusal: DatabaseRefusal,
): Promise<void> {
  const units = [...Map.groupBy(rows, ({ unit }) => unit).values()];
  if (units.length === 1) {
    if (!pass.last) {
      for (const unit of unitsOf(rows)) pass.deferred.add(unit);
      return;
    }
    const named = refusal.row && rows.includes(refusal.row) ? refusal.row : rows[0];
    const reason = refusal.problem.detail.replace(/^body\./, '');
    return refuseFaulty(pass, job, rows, named ? [{ row: named.row, unit: named.unit, reason }] : []);
  }
  const middle = Math.ceil(units.length / 2);
  await applyOrRefuse(pass, job, units.slice(0, middle).flat(), false);
  await applyOrRefuse(pass, job, units.slice(middle).flat(), false);
}

const noKinds: ReadonlySet<EstateKind> = new Set();

/** Thrown at the end of a dry run's transaction, to roll it back; carries what it would have done. */
class DryRunEnd extends Error {
  readonly applied: Applied;

  constructor(applied: Applied) {
    super('This was a dry run');
    this.applied = applied;
  }
}

async function applyTransaction(
  { database, outbox, clock, emptyKinds, rolledBack }: Pass,
  job: ImportRow,
  rows: readonly StagedRow[],
): Promise<void> {
  const now = clock.now();
  try {
    await database.sqlTransaction(async (tx) => {
      if (!(await lockImport(tx, job.id))) return;
      await markUnitsDone(tx, job.id, unitsOf(rows));
      const earlierGroups = job.dry_run ? await findEarlierGroups(tx, job.id, rows) : [];
      const applied = await applyRows({ tx, outbox, job, now, emptyKinds, rolledBack }, rows, earlierGroups);
      if (job.dry_run) throw new DryRunEnd(applied);
      await addCounts(tx, job.id, { ...applied.counts, refused: 0 });
    });
  } catch (error) {
    if (!(error instanceof DryRunEnd)) throw error;
    const { counts, created } = error.applied;
    for (const [kind, count] of created) rolledBack.set(kind, (rolledBack.get(kind) ?? 0) + count);
    await database.sqlTransaction(async (tx) => {
      if (!(await lockImport(tx, job.id))) return;
      await markUnitsDone(tx, job.id, unitsOf(rows));
      await addCounts(tx, job.id, { ...counts, refused: 0 });
    });
  }
}

/** The parents of these rows among the file's groups. A dry run has not kept them, so it sets them up again. */
async function findEarlierGroups(tx: Sql, importId: string, rows: readonly StagedRow[]): Promise<StagedRow[]> {
  const own = new Set(rows.filter(({ kind }) => kind === 'group').map(({ external_id }) => external_id));
  const parents = rows.flatMap(({ kind, parent }) => (kind === 'location' && parent !== null ? [parent] : []));
  const missing = [...new Set(parents)].filter((ref) => !own.has(ref));
  if (missing.length === 0) return [];
  const groups = await findGroupRows(tx, importId, missing);
  const faulty = await findFaulty(tx, importId, unitsOf(groups));
  return groups.filter(({ unit }) => !faulty.has(unit));
}

/** Refuses the units that have faults. */
async function refuseFaulty(
  deps: ApplyDependencies,
  job: ImportRow,
  rows: readonly StagedRow[],
  faults: readonly Fault[],
): Promise<void> {
  const firstFaulty = new Map(faults.toReversed().map(({ unit, row }) => [unit, row]));
  const reasons = new Map(faults.map(({ row, reason }) => [row, reason]));
  const refused = rows.filter(({ unit }) => firstFaulty.has(unit));
  await refuseUnits(deps, job, refused, (unit) => firstFaulty.get(unit), reasons);
}

/** Refuses all of these rows, which are whole units. `firstFaulty` gives the first row at fault of a unit. */
async function refuseUnits(
  { database }: ApplyDependencies,
  job: ImportRow,
  rows: readonly StagedRow[],
  firstFaulty: (unit: number) => number | undefined,
  reasons: ReadonlyMap<number, string> = new Map(),
): Promise<void> {
  const refused = rows.map(({ row, kind, external_id, unit }) => {
    const reason = reasons.get(row) ?? `Row ${firstFaulty(unit)} of the same location is at fault.`;
    return { row, kind, external_id, unit, reason };
  });
  await database.sqlTransaction(async (tx) => {
    if (!(await lockImport(tx, job.id))) return;
    await markUnitsDone(tx, job.id, unitsOf(rows));
    const count = await insertRefused(tx, job.id, refused);
    await addCounts(tx, job.id, { created: 0, updated: 0, unchanged: 0, refused: count });
  });
}
