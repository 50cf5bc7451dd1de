import { type EstateKind, looksLikeId, type Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import type { NewEvent, Outbox } from '@attribution/messaging';
import {
  type EstateRow,
  firstFields,
  insertRows,
  type Kind,
  refusalOf,
  tellState,
  updateRows,
} from '../estate/index.ts';
import { kinds } from '../tree.ts';
import { kindOf, lockByRefs } from './apply.store.ts';
import { type Columns, decide } from './decide.ts';
import type { Counts, ImportRow } from './import.store.ts';
import { seesWith } from './importer.ts';
import type { StagedRow } from './lots.ts';
import { parentKinds } from './row.ts';

/** A fault that was found in a row, which refuses its unit. */
export interface Fault {
  readonly row: number;
  readonly unit: number;
  readonly reason: string;
}

/** Rows that are at fault where they were to go; their units are refused, and nothing of the transaction is kept. */
export class Faults extends Error {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super('Rows of an import are at fault');
    this.faults = faults;
  }
}

/** The database refused what a row came to; as far as it says, which one. */
export class Refusal extends Error {
  readonly problem: Problem;
  readonly row: StagedRow | undefined;

  constructor(problem: Problem, row: StagedRow | undefined) {
    super(problem.detail, { cause: problem });
    this.problem = problem;
    this.row = row;
  }
}

export interface Applying {
  readonly tx: Sql;
  readonly outbox: Outbox;
  readonly job: ImportRow;
  readonly now: Date;
  /** Kinds of which the account is believed to have nothing that has a name of its own: that is not looked for. */
  readonly bare: ReadonlySet<EstateKind>;
}

/** Rows that one statement writes, and events that one appends: so that none takes long. */
const atOnce = 1_000;

/** What is there of a kind, by what the file calls it. */
type Known = Map<string, Columns>;

/** What has become of the rows of a transaction so far. */
interface Outcome {
  readonly known: ReadonlyMap<EstateKind, Known>;
  readonly counts: Record<'created' | 'updated' | 'unchanged', number>;
  readonly events: NewEvent[];
}

/**
 * Sets up the rows, parents before children, and tells of what became different. `before`: groups of earlier rows that
 * are set up with them once more, and not counted. Throws `Faults` and `Refusal`.
 */
export async function applyRows(
  applying: Applying,
  rows: readonly StagedRow[],
  before: readonly StagedRow[] = [],
): Promise<Omit<Counts, 'refused'>> {
  const counts = { created: 0, updated: 0, unchanged: 0 };
  const events: NewEvent[] = [];
  const outcome: Outcome = { known: new Map(kinds.map(({ name }) => [name, new Map()])), counts, events };
  if (before.length > 0) await setUpAgain(applying, before, outcome.known);
  const ofKind = Map.groupBy(rows, ({ kind }) => kind);
  for (const kind of kinds) {
    const own = ofKind.get(kind.name) ?? [];
    if (own.length === 0) continue;
    await learnAround(applying, kind.name, own, outcome.known);
    await setUp(applying, kind as unknown as Kind<Columns>, own, outcome);
  }
  for (let start = 0; start < events.length; start += atOnce)
    await applying.outbox.append(applying.tx, ...events.slice(start, start + atOnce));
  return counts;
}

/** Reads what rows are put into, and what they name besides, as far as the rows before them do not have it. */
async function learnAround(
  { tx, job }: Applying,
  name: EstateKind,
  rows: readonly StagedRow[],
  known: Outcome['known'],
) {
  const learn = async (kind: EstateKind, refs: readonly string[]) => {
    const there = known.get(kind) as Known;
    const missing = [...new Set(refs)].filter((ref) => !there.has(ref));
    const found = await lockByRefs(tx, kindOf(kind), job.account_id, missing, 'holding');
    for (const [ref, row] of found) there.set(ref, row);
  };
  const above = parentKinds[name];
  if (above)
    await learn(
      above,
      rows.flatMap(({ parent }) => parent ?? []),
    );
  if (name === 'installation')
    await learn(
      'screen',
      rows.flatMap(({ fields }) => screensIn(fields)),
    );
}

const screensIn = ({ outputs }: StagedRow['fields']) =>
  ((outputs ?? []) as readonly { screen: string }[]).map(({ screen }) => screen);

/** Groups that may have changed since then: one that is at fault now is not there. */
async function setUpAgain(applying: Applying, groups: readonly StagedRow[], known: Outcome['known']): Promise<void> {
  const outcome: Outcome = { known, counts: { created: 0, updated: 0, unchanged: 0 }, events: [] };
  await setUp(applying, kindOf('group') as unknown as Kind<Columns>, groups, outcome, () => {});
}

/** Sets up rows of one kind; they are known to those that come after. `refuse`: what comes of faults. */
async function setUp(
  { tx, job, now, bare }: Applying,
  kind: Kind<Columns>,
  rows: readonly StagedRow[],
  { known, counts, events }: Outcome,
  refuse: (faults: readonly Fault[]) => void = throwFaults,
): Promise<void> {
  const own = known.get(kind.name) as Known;
  const parentKind = parentKinds[kind.name];
  const all = rows.map(({ external_id }) => external_id);
  const refs = bare.has(kind.name) ? all.filter(looksLikeId) : all;
  for (const [ref, row] of await lockByRefs(tx, kind as unknown as Kind<never>, job.account_id, refs, 'changing'))
    own.set(ref, row);
  const screensAt = kind.name === 'installation' ? screensByLocation(known.get('screen')) : new Map<unknown, Known>();
  const faults: Fault[] = [];
  const written = { created: [] as Columns[], updated: [] as Columns[] };
  const stagedOf = new Map<Columns, StagedRow>();
  for (const staged of rows) {
    const existing = own.get(staged.external_id);
    const parent =
      parentKind && staged.parent !== null ? seen(known.get(parentKind)?.get(staged.parent), job) : undefined;
    const screens = screensAt.get(parent?.id) ?? none;
    const decision = decide(staged, { grants: job.grants, now, parent, existing, screens });
    if (decision.result === 'refused') faults.push({ row: staged.row, unit: staged.unit, reason: decision.reason });
    else counts[decision.result]++;
    if (decision.result !== 'created' && decision.result !== 'updated') continue;
    const row = { ...startOf(kind, job, staged, existing, now), ...decision.columns } as Columns;
    own.set(staged.external_id, row);
    written[decision.result].push(row);
    stagedOf.set(row, staged);
  }
  if (faults.length > 0) refuse(faults);
  try {
    await write(tx, kind, written);
  } catch (error) {
    const problem = refusalOf(error);
    throw problem ? new Refusal(problem, meantBy(error, stagedOf)) : error;
  }
  const occasion = { now, traceparent: job.traceparent };
  for (const deed of ['created', 'updated'] as const)
    for (const row of written[deed]) events.push(tellState(kind, deed, row, occasion));
}

interface Written {
  readonly created: readonly Columns[];
  readonly updated: readonly Columns[];
}

async function write(tx: Sql, kind: Kind<Columns>, { created, updated }: Written): Promise<void> {
  // A device or a screen that one row lets go of is there for another to take.
  const [lettingGo, others] = partition(updated, (row) => row.live === false);
  for (const part of inParts(lettingGo)) await updateRows(tx, kind, part);
  for (const part of inParts(others)) await updateRows(tx, kind, part);
  for (const part of inParts(created)) await insertRows(tx, kind, part);
}

/** The last row that has the value which Postgres names: `Key (account_id, device_id)=(acc_…, dev_…) already exists.` */
function meantBy(error: unknown, stagedOf: ReadonlyMap<Columns, StagedRow>): StagedRow | undefined {
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

const none: ReadonlyMap<string, Columns> = new Map();

const seen = (row: Columns | undefined, { grants }: ImportRow) =>
  row && seesWith(grants, String(row.group_id ?? row.id)) ? row : undefined;

const screensByLocation = (screens: Known = new Map()): Map<unknown, Known> => {
  const byLocation = Map.groupBy(screens, ([, row]) => row.location_id);
  return new Map([...byLocation].map(([id, entries]) => [id, new Map(entries)]));
};

/** What a row is before its columns: a new one's first fields, or what is there, as its next version. */
function startOf(
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

function* inParts<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += atOnce) yield items.slice(start, start + atOnce);
}
