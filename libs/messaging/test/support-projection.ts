import { event, id, topic as topicOf } from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import { captureLogs } from '@attribution/testing';
import { z } from 'zod';
import {
  catchUp,
  createConsumer,
  createOutbox,
  type EventHandler,
  type Message,
  newEvent,
  projection,
} from '../src/index.ts';
import { accountId, openTestDatabase, type TestDb } from './support.ts';

const topic = topicOf({ name: 'gadgets', owner: 'organization', partitions: 3 });
const byAccount = { topic, version: 1, key: (data: { account_id: string }) => data.account_id };
const envelope = { account_id: id('account'), aggregate_version: z.int().min(1) };

const Gadget = z.object({
  id: z.string(),
  name: z.string(),
  size: z.number().nullable(),
  tags: z.array(z.string()),
  made_at: z.iso.datetime(),
  box: z.object({ wide: z.int() }).nullable(),
});
type Gadget = z.output<typeof Gadget>;
const gadgetState = z.object({ ...envelope, gadget: Gadget });
export type GadgetState = z.output<typeof gadgetState>;

export const gadgetTopic = topic;
const gadgetCreated = event({ type: 'gadget.created', ...byAccount, data: gadgetState });
const gadgetUpdated = event({ type: 'gadget.updated', ...byAccount, data: gadgetState });
export const gadgetDeleted = event({
  type: 'gadget.deleted',
  ...byAccount,
  data: z.object({ ...envelope, gadget_id: z.string() }),
});

/** A column of every kind. */
export const gadgets = projection({
  table: 'gadgets',
  states: [gadgetCreated, gadgetUpdated],
  gone: gadgetDeleted,
  row: ({ account_id, gadget: { id, name, size, tags, made_at, box } }) => ({
    id,
    account_id,
    name,
    size,
    tags,
    made_at: new Date(made_at),
    box,
  }),
  goneId: ({ gadget_id }) => gadget_id,
});

const table = `
  CREATE TABLE gadgets (
    id text PRIMARY KEY, aggregate_version int NOT NULL, account_id text NOT NULL, name text NOT NULL,
    size float, tags text[] NOT NULL, made_at timestamptz NOT NULL, box jsonb)`;

export async function openGadgets(): Promise<Awaited<ReturnType<typeof openTestDatabase>>> {
  const database = await openTestDatabase();
  await database.pool.query(table);
  return database;
}

export const newGadget = (fields: Partial<Gadget> = {}): Gadget => ({
  id: `gad_${newUuid()}`,
  name: 'Lamp',
  size: null,
  tags: [],
  made_at: '2026-11-22T10:00:00.000Z',
  box: null,
  ...fields,
});

/** As it is after so many changes. */
export const stateOf = (gadget: Gadget, aggregate_version: number, account_id = accountId): GadgetState => ({
  account_id,
  aggregate_version,
  gadget,
});

export const stateEvent = (state: GadgetState) =>
  newEvent(state.aggregate_version === 1 ? gadgetCreated : gadgetUpdated, state, {
    accountId: state.account_id,
    occurredAt: new Date(),
  });

export const goneEvent = (gadget_id: string, aggregate_version: number, account_id = accountId) =>
  newEvent(
    gadgetDeleted,
    { account_id, aggregate_version, gadget_id },
    { accountId: account_id, occurredAt: new Date() },
  );

/** A service that listens, and is brought events without a transport. */
export function listener(database: TestDb, handlers: readonly EventHandler<never>[] = gadgets.handlers) {
  const consumer = createConsumer({
    service: 'campaign',
    database,
    outbox: createOutbox(() => {}),
    handlers: handlers as never,
    logger: captureLogs().logger,
    backoff: [],
  });
  return {
    consumer,
    async deliver(...events: readonly { message: Message }[]): Promise<void> {
      const failures = await consumer.subscription.handle(events.map(({ message }) => message));
      if (failures[0]) throw failures[0].error;
    },
  };
}

export interface GadgetPage {
  readonly gadgets: readonly GadgetState[];
  readonly next_cursor: string | null;
}

export const catchUpGadgets = (
  database: TestDb,
  pages: (cursor: string | null) => Promise<GadgetPage>,
  { logger } = captureLogs(),
  pauses = { first: 1, longest: 10 },
) => catchUp({ name: 'gadgets', database, logger, pages, apply: (page) => [gadgets.of(page.gadgets)], pauses });

/** Every row, as text. */
export async function rowsOf(database: TestDb, of = 'gadgets'): Promise<string[]> {
  const { rows } = await database.pool.query<{ row: string }>(`SELECT t::text AS row FROM ${of} AS t ORDER BY id`);
  return rows.map(({ row }) => row);
}

/** Versions by id. */
export async function versionsOf(database: TestDb): Promise<Record<string, number>> {
  const { rows } = await database.pool.query<{ id: string; aggregate_version: number }>('SELECT * FROM gadgets');
  return Object.fromEntries(rows.map(({ id, aggregate_version }) => [id, aggregate_version]));
}

export const never = new AbortController().signal;

/** Makes what stands between the statements of a transaction long enough for others to come in between. */
export const slowDown = (database: TestDb) =>
  database.pool.query(`
    CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_sleep(random() * 0.004); RETURN NEW; END $$;
    CREATE TRIGGER dawdle BEFORE INSERT ON gadgets FOR EACH ROW EXECUTE FUNCTION dawdle();
    CREATE TRIGGER dawdle BEFORE INSERT ON projection_tombstones FOR EACH ROW EXECUTE FUNCTION dawdle()`);
