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
  /**
   * What was deleted stays, with `gone` set, and the primary key is (account_id, id): for a service whose own rows go on
   * meaning the things that they name. Default: it is deleted, and the key is the id.
   */
  readonly keepsGone?: boolean;
}

/** A table that follows things of another service. */
export interface Projection<State> {
  /** Whether what was deleted stays, with `gone` set. */
  readonly keepsGone?: boolean;
  /** For all its events. */
  readonly handlers: readonly EventHandler<SqlTransaction>[];
  /** Writes states that come from elsewhere than the stream, in a transaction under `lockProjections(tx, true)`. */
  readonly of: (states: readonly State[]) => (tx: SqlTransaction) => Promise<void>;
}

/** Declares a table that events keep up to date: in whatever order they arrive, the newest state of an id wins, and what was deleted stays deleted. */
export function projection<S extends StateSchema, G extends z.ZodObject>(
  options: ProjectionOptions<S, G>,
): Projection<z.output<S>> {
  const { table, states, gone, row, goneId, keepsGone = false } = options;

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
    if (first) await tx.$executeRawUnsafe(upsert(table, Object.keys(first), keepsGone), JSON.stringify(rows));
  }

  async function handle(tx: SqlTransaction, events: readonly Received<EventType>[]): Promise<void> {
    const [ends, changes] = [events.filter(isGone), events.filter((event) => !isGone(event))];
    await write(
      tx,
      changes.map(({ data }) => data as z.output<S>),
    );
    if (ends.length === 0) return;
    const ids = new Map(ends.map(({ accountId, data }) => [goneId(data as z.output<G>), accountId]));
    const rows = [...ids].map(([id, account_id]) => ({ id, account_id }));
    await tx.$executeRawUnsafe(keepsGone ? markGone(table) : remove(table), JSON.stringify(rows));
  }

  const isGone = ({ type }: Received<EventType>) => type === gone.type;
  const handlers = [...states, gone].map((event) => ({
    ...{ event, handle, lock: lockProjections },
    ...{ eventsPerTransaction: maxEventsPerTransaction, sqlOnly: true },
  }));
  return {
    keepsGone,
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
const upsert = (table: string, columns: readonly string[], keepsGone: boolean) => `
  INSERT INTO ${table} AS known (${columns.join(', ')})
  SELECT ${columns.join(', ')} FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb) AS state
  WHERE NOT EXISTS (SELECT FROM projection_tombstones AS gone WHERE gone.id = state.id)
  ORDER BY id
  ON CONFLICT (${keepsGone ? 'account_id, id' : 'id'}) DO UPDATE
  SET ${[...columns.map((column) => `${column} = excluded.${column}`), ...(keepsGone ? ['gone = false'] : [])].join(', ')}
  WHERE known.aggregate_version < excluded.aggregate_version`;

const removing = (change: string) => `
  WITH ids AS (SELECT id, account_id FROM jsonb_to_recordset($1::jsonb) AS ended(id text, account_id text)),
  removed AS (${change})
  INSERT INTO projection_tombstones (id) SELECT id FROM ids ORDER BY id ON CONFLICT DO NOTHING`;

const remove = (table: string) => removing(`DELETE FROM ${table} WHERE id IN (SELECT id FROM ids)`);

const markGone = (table: string) =>
  removing(`UPDATE ${table} AS known SET gone = true FROM ids
    WHERE known.account_id = ids.account_id AND known.id = ids.id`);
