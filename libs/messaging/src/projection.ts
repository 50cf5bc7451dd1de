import type { EventType } from '@attribution/contracts';
import type { SqlTransaction } from '@attribution/database';
import type { z } from 'zod';
import { type EventHandler, maxEventsPerTransaction, type Received } from './handlers.ts';

/** A value as JSON brings it to a column of any type. */
type Value =
  | string
  | number
  | boolean
  | Date
  | null
  | undefined
  | readonly Value[]
  | { readonly [name: string]: Value };

/** The columns but for `aggregate_version`: always the same ones. */
type Row = { readonly [column: string]: Value } & { readonly id: string; readonly aggregate_version?: never };

/** The data of an event that carries the whole state of a thing, and the number of its changes so far. */
type StateSchema = z.ZodObject<{ aggregate_version: z.ZodType<number> }>;

export interface ProjectionOptions<S extends StateSchema, G extends z.ZodObject> {
  /** Has `id text primary key`, `aggregate_version int not null` and the columns of `row`; no foreign keys (ADR 18). */
  readonly table: string;
  /** Events that carry the thing's state. */
  readonly states: readonly EventType<S>[];
  /** The event of its deletion. Its id is not used again. */
  readonly gone: EventType<G>;
  readonly row: (state: z.output<S>) => Row;
  readonly goneId: (data: z.output<G>) => string;
}

/** A table that follows things of another service. */
export interface Projection<State> {
  /** For all its events. */
  readonly handlers: readonly EventHandler<SqlTransaction>[];
  /** Writes states that come from elsewhere than the stream, in a transaction under `lockProjections(tx, true)`. */
  readonly of: (states: readonly State[]) => (tx: SqlTransaction) => Promise<void>;
}

/** Declares a table that events keep up to date: in whatever order they arrive, the newest state of an id wins, and what was deleted stays deleted. */
export function projection<S extends StateSchema, G extends z.ZodObject>(
  options: ProjectionOptions<S, G>,
): Projection<z.output<S>> {
  const { table, states, gone, row, goneId } = options;

  async function write(tx: SqlTransaction, newStates: readonly z.output<S>[]): Promise<void> {
    const newest = new Map<string, { id: string; aggregate_version: number }>();
    for (const state of newStates) {
      const { aggregate_version } = state as z.output<StateSchema>;
      const columns = row(state);
      const known = newest.get(columns.id);
      if (!known || known.aggregate_version < aggregate_version)
        newest.set(columns.id, { ...columns, aggregate_version });
    }
    const rows = [...newest.values()];
    const [first] = rows;
    if (first) await tx.$executeRawUnsafe(upsert(table, Object.keys(first)), JSON.stringify(rows));
  }

  async function handle(tx: SqlTransaction, events: readonly Received<EventType>[]): Promise<void> {
    const [ends, changes] = [events.filter(isGone), events.filter((event) => !isGone(event))];
    await write(
      tx,
      changes.map(({ data }) => data as z.output<S>),
    );
    if (ends.length === 0) return;
    const ids = new Set(ends.map(({ data }) => goneId(data as z.output<G>)));
    await tx.$executeRawUnsafe(remove(table), JSON.stringify([...ids]));
  }

  const isGone = ({ type }: Received<EventType>) => type === gone.type;
  const handlers = [...states, gone].map((event) => ({
    ...{ event, handle, lock: lockProjections },
    ...{ eventsPerTransaction: maxEventsPerTransaction, sqlOnly: true },
  }));
  return {
    handlers: handlers as unknown as EventHandler<SqlTransaction>[],
    of: (newStates) => (tx) => write(tx, newStates),
  };
}

/**
 * Locks the projections of a database until the end of the transaction, before any of their rows, so that a transaction
 * with the lock never waits for rows of one that waits for the lock. Events share the lock. Data out of their order (a
 * snapshot, a replay) need it exclusively: no deletion that they could not see is in progress, and none begins that would
 * not see their rows.
 */
export async function lockProjections(tx: SqlTransaction, exclusive: boolean): Promise<void> {
  await tx.$executeRawUnsafe(
    `SELECT pg_advisory_xact_lock${exclusive ? '' : '_shared'}(hashtextextended('projections', 2))`,
  );
}

/** Rows go as one text, whatever their columns, and in the order of ids, so that two transactions cannot deadlock on them. */
const upsert = (table: string, columns: readonly string[]) => `
  INSERT INTO ${table} AS known (${columns.join(', ')})
  SELECT ${columns.join(', ')} FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb) AS state
  WHERE NOT EXISTS (SELECT FROM projection_tombstones AS gone WHERE gone.id = state.id)
  ORDER BY id
  ON CONFLICT (id) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}
  WHERE known.aggregate_version < excluded.aggregate_version`;

const remove = (table: string) => `
  WITH ids AS (SELECT id FROM jsonb_array_elements_text($1::jsonb) AS id),
  removed AS (DELETE FROM ${table} WHERE id IN (SELECT id FROM ids))
  INSERT INTO projection_tombstones (id) SELECT id FROM ids ORDER BY id ON CONFLICT DO NOTHING`;
