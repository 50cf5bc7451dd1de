import { type EstateKind, looksLikeId, type Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import type { NewEvent, Outbox } from '@attribution/messaging';
import {
  changeEvent,
  type EstateRow,
  firstFields,
  insertRows,
  type Kind,
  refusalOf,
  updateRows,
} from '../estate/index.ts';
import { findRoom, limitOf } from '../limits/index.ts';
import { kinds } from '../tree.ts';
import { kindOf, lockByRefs } from './apply.store.ts';
import type { StagedRow } from './batches.ts';
import { chunked } from './chunked.ts';
import { type Columns, decide } from './decide.ts';
import { canSee } from './grants.ts';
import type { Counts, ImportRow } from './import.store.ts';
import { parentKinds } from './row.ts';

/** Why a row cannot be set up; its whole unit is refused. */
export interface Fault {
  readonly row: number;
  readonly unit: number;
  readonly reason: string;
}

/** Rows cannot be set up as the account is now. The transaction is rolled back, and the units of these rows refused. */
export class Faults extends Error {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super('Rows of an import are at fault');
    this.faults = faults;
  }
}

/** The database refused what a row would write; `row` is undefined if the error does not say which. */
export class DatabaseRefusal extends Error {
  readonly problem: Problem;
  readonly row: StagedRow | undefined;

  constructor(problem: Problem, row: StagedRow | undefined) {
    super(problem.detail, { cause: problem });
    this.problem = problem;
    this.row = row;
  }
}

export interface ApplyContext {
  readonly tx: Sql;
  readonly outbox: Outbox;
  readonly job: ImportRow;
  readonly now: Date;
  /**
   * Kinds of which the account had nothing when the work began. Their external ids are not looked up: if one exists by
   * now, the database refuses it.
   */
  readonly emptyKinds: ReadonlySet<EstateKind>;
  /** How many of each kind this dry run has created so far, and rolled back. */
  readonly rolledBack: ReadonlyMap<EstateKind, number>;
}

/** What a transaction has done. */
export interface Applied {
  readonly counts: Omit<Counts, 'refused'>;
  readonly created: ReadonlyMap<EstateKind, number>;
}

/** Rows or events that one statement writes, so that none takes long. */
const rowsPerStatement = 1_000;

/** Existing things of a kind, by what the file calls them. */
type Known = Map<string, Columns>;

/** What the transaction knows and has done so far. */
interface Outcome {
  readonly known: ReadonlyMap<EstateKind, Known>;
  readonly counts: Record<'created' | 'updated' | 'unchanged', number>;
  /** The rows that have created something. */
  readonly created: Map<EstateKind, readonly StagedRow[]>;
  readonly events: NewEvent[];
}

/**
 * Sets up the rows, parents before children, and appends the events. `earlierGroups` are set up first, but neither
 * counted nor published. Throws `Faults` and `DatabaseRefusal`.
 */
export async function applyRows(
  context: ApplyContext,
  rows: readonly StagedRow[],
  earlierGroups: readonly StagedRow[] = [],
): Promise<Applied> {
  const counts = { created: 0, updated: 0, unchanged: 0 };
  const events: NewEvent[] = [];
  const known = new Map(kinds.map(({ name }) => [name, new Map()]));
  const outcome: Outcome = { known, counts, created: new Map(), events };
  if (earlierGroups.length > 0) await setUpEarlierGroups(context, earlierGroups, outcome.known);
  const ofKind = Map.groupBy(rows, ({ kind }) => kind);
  for (const kind of kinds) {
    const own = ofKind.get(kind.name) ?? [];
    if (own.length === 0) continue;
    await loadReferenced(context, kind.name, own, outcome.known);
    await setUp(context, kind as unknown as Kind<Columns>, own, outcome);
  }
  await refuseBeyondLimits(context, outcome);
  // Last, as in requests: both may wait for the lock of a limit, and then for that of the account's events.
  for (const some of chunked(events, rowsPerStatement)) await context.outbox.append(context.tx, ...some);
  return { counts, created: new Map([...outcome.created].map(([kind, { length }]) => [kind, length])) };
}

/** Throws `Faults` for the last of the created rows, if the account has more than it may have. */
async function refuseBeyondLimits({ tx, job, rolledBack }: ApplyContext, { created }: Outcome): Promise<void> {
  for (const [kind, rows] of created) {
    const { allowed, room } = await findRoom(tx, job.account_id, kind);
    const left = room - (rolledBack.get(kind) ?? 0);
    if (left >= 0) continue;
    const reason = limitOf(kind, allowed);
    throwFaults(rows.slice(left).map(({ row, unit }) => ({ row, unit, reason })));
  }
}

/** Reads and locks the parents and screens that rows refer to, unless earlier rows have made them known. */
async function loadReferenced(
  { tx, job }: ApplyContext,
  name: EstateKind,
  rows: readonly StagedRow[],
  known: Outcome['known'],
) {
  const load = async (kind: EstateKind, refs: readonly string[]) => {
    const ofKind = known.get(kind) as Known;
    const missing = [...new Set(refs)].filter((ref) => !ofKind.has(ref));
    const found = await lockByRefs(tx, kindOf(kind), job.account_id, missing, 'holding');
    for (const [ref, row] of found) ofKind.set(ref, row);
  };
  const parentKind = parentKinds[name];
  if (parentKind)
    await load(
      parentKind,
      rows.flatMap(({ parent }) => parent ?? []),
    );
  if (name === 'installation')
    await load(
      'screen',
      rows.flatMap(({ fields }) => screensIn(fields)),
    );
}

const screensIn = ({ outputs }: StagedRow['fields']) =>
  ((outputs ?? []) as readonly { screen: string }[]).map(({ screen }) => screen);

/** Somebody may have changed these groups since: one that has a fault by now is left out. */
async function setUpEarlierGroups(
  context: ApplyContext,
  groups: readonly StagedRow[],
  known: Outcome['known'],
): Promise<void> {
  const counts = { created: 0, updated: 0, unchanged: 0 };
  const outcome: Outcome = { known, counts, created: new Map(), events: [] };
  await setUp(context, kindOf('group') as unknown as Kind<Columns>, groups, outcome, () => {});
}

/** Sets up rows of one kind and adds them to what is known. `refuse` is called with the faults, if there are any. */
async function setUp(
  { tx, job, now, emptyKinds }: ApplyContext,
  kind: Kind<Columns>,
  rows: readonly StagedRow[],
  { known, counts, created, events }: Outcome,
  refuse: (faults: readonly Fault[]) => void = throwFaults,
): Promise<void> {
  const own = known.get(kind.name) as Known;
  const parentKind = parentKinds[kind.name];
  const all = rows.map(({ external_id }) => external_id);
  const refs = emptyKinds.has(kind.name) ? all.filter(looksLikeId) : all;
  for (const [ref, row] of await lockByRefs(tx, kind as unknown as Kind<never>, job.account_id, refs, 'changing'))
    own.set(ref, row);
  const screensAt = kind.name === 'installation' ? screensByLocation(known.get('screen')) : new Map<unknown, Known>();
  const faults: Fault[] = [];
  const written = { created: [] as Columns[], updated: [] as Columns[] };
  const stagedOf = new Map<Columns, StagedRow>();
  for (const staged of rows) {
    const existing = own.get(staged.external_id);
    const parent =
      parentKind && staged.parent !== null ? ifVisible(known.get(parentKind)?.get(staged.parent), job) : undefined;
    const screens = screensAt.get(parent?.id) ?? noScreens;
    const decision = decide(staged, { grants: job.grants, now, parent, existing, screens });
    if (decision.result === 'refused') faults.push({ row: staged.row, unit: staged.unit, reason: decision.reason });
    else counts[decision.result]++;
    if (decision.result !== 'created' && decision.result !== 'updated') continue;
    const row = { ...baseFields(kind, job, staged, existing, now), ...decision.columns } as Columns;
    own.set(staged.external_id, row);
    written[decision.result].push(row);
    stagedOf.set(row, staged);
  }
  if (faults.length > 0) refuse(faults);
  if (written.created.length > 0)
    created.set(
      kind.name,
      written.created.flatMap((row) => stagedOf.get(row) ?? []),
    );
  try {
    await write(tx, kind, written);
  } catch (error) {
    const problem = refusalOf(error);
    throw problem ? new DatabaseRefusal(problem, rowNamedIn(error, stagedOf)) : error;
  }
  const eventContext = { now, traceparent: job.traceparent };
  for (const change of ['created', 'updated'] as const)
    for (const row of written[change]) events.push(changeEvent(kind, change, row, eventContext));
}

interface Written {
  readonly created: readonly Columns[];
  readonly updated: readonly Columns[];
}

async function write(tx: Sql, kind: Kind<Columns>, { created, updated }: Written): Promise<void> {
  // First what becomes removed: it releases devices and screens that other rows may take.
  const [releasing, others] = partition(updated, (row) => row.live === false);
  for (const some of chunked(releasing, rowsPerStatement)) await updateRows(tx, kind, some);
  for (const some of chunked(others, rowsPerStatement)) await updateRows(tx, kind, some);
  for (const some of chunked(created, rowsPerStatement)) await insertRows(tx, kind, some);
}

/** The last row with the value that Postgres names: `Key (account_id, device_id)=(acc_…, dev_…) already exists.` */
function rowNamedIn(error: unknown, stagedOf: ReadonlyMap<Columns, StagedRow>): StagedRow | undefined {
  const { detail = '' } = error as { detail?: string };
  const isNamed = (value: unknown) => [`(${value})`, `, ${value})`].some((text) => detail.includes(text));
  return [...stagedOf].findLast(([{ id, external_id, device_id, live, outputs }]) => {
    const wires = (outputs ?? []) as readonly { screen_id: string }[];
    const values = [id, external_id, device_id, ...wires.map(({ screen_id }) => screen_id)];
    return live !== false && values.some(isNamed);
  })?.[1];
}

function throwFaults(faults: readonly Fault[]): never {
  throw new Faults(faults);
}

const noScreens: ReadonlyMap<string, Columns> = new Map();

const ifVisible = (row: Columns | undefined, { grants }: ImportRow) =>
  row && canSee(grants, String(row.group_id ?? row.id)) ? row : undefined;

const screensByLocation = (screens: Known = new Map()): Map<unknown, Known> => {
  const byLocation = Map.groupBy(screens, ([, row]) => row.location_id);
  return new Map([...byLocation].map(([id, entries]) => [id, new Map(entries)]));
};

/** The row without the file's columns: the first fields of a new one, or the next version of an existing one. */
function baseFields(
  kind: Kind<Columns>,
  job: ImportRow,
  staged: StagedRow,
  existing: Columns | undefined,
  now: Date,
): EstateRow {
  if (existing) return { ...existing, aggregate_version: existing.aggregate_version + 1, updated_at: now };
  return { ...firstFields(kind, job.account_id, now), external_id: staged.external_id };
}

function partition<T>(items: readonly T[], first: (item: T) => boolean): [T[], T[]] {
  const groups = Map.groupBy(items, (item) => first(item));
  return [groups.get(true) ?? [], groups.get(false) ?? []];
}
