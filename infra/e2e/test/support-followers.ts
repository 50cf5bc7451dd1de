import {
  type Client,
  cameraCreated,
  cameraDeleted,
  cameraUpdated,
  type EstateKind,
  type EventType,
  estateKinds,
  estateSnapshot,
  groupCreated,
  groupDeleted,
  groupUpdated,
  installationCreated,
  installationDeleted,
  installationUpdated,
  locationCreated,
  locationDeleted,
  locationUpdated,
  organizationEvents,
  type ServiceName,
  screenCreated,
  screenDeleted,
  screenUpdated,
  zoneCreated,
  zoneDeleted,
  zoneUpdated,
} from '@attribution/contracts';
import { openDatabase, type PrismaLike, type SqlTransaction } from '@attribution/database';
import { createKafkaTransport } from '@attribution/kafka';
import { catchUp, createConsumer, createOutbox, projection } from '@attribution/messaging';
import { captureLogs, createTestDatabase } from '@attribution/testing';
import type { z } from 'zod';

/** A thing of any kind as its events tell of it, whole. */
interface Told {
  readonly account_id: string;
  readonly aggregate_version: number;
  readonly [kind: string]: unknown;
}

export type EstatePage = z.output<typeof estateSnapshot.success.body>;

/** A table for each kind, which keeps the thing whole. */
function follow(kind: EstateKind, created: EventType, updated: EventType, gone: EventType) {
  return projection<never, never>({
    table: `followed_${kind}s`,
    states: [created, updated] as never,
    gone: gone as never,
    row: (told: Told) => {
      const state = told[kind] as { readonly id: string };
      return { id: state.id, account_id: told.account_id, state };
    },
    goneId: (data: Readonly<Record<string, string>>) => data[`${kind}_id`] ?? '',
  } as never);
}

const followed = {
  group: follow('group', groupCreated, groupUpdated, groupDeleted),
  location: follow('location', locationCreated, locationUpdated, locationDeleted),
  zone: follow('zone', zoneCreated, zoneUpdated, zoneDeleted),
  screen: follow('screen', screenCreated, screenUpdated, screenDeleted),
  installation: follow('installation', installationCreated, installationUpdated, installationDeleted),
  camera: follow('camera', cameraCreated, cameraUpdated, cameraDeleted),
};

/** By kind, each row as a follower has it. */
export type Rows = Record<EstateKind, readonly object[]>;

export interface Follower {
  /** Reads the estate as it is, to its end. `dawdle`: between reading a page and taking it. */
  catchUp(client: Client, dawdle: (page: EstatePage) => Promise<void>): Promise<void>;
  rows(): Promise<Rows>;
  /** How many events it has heard, and how many it could not handle. */
  heard(): Promise<{ readonly done: number; readonly buried: number }>;
  stop(): Promise<void>;
}

/** A service that keeps all six kinds, with a database and a consumer group of its own. */
export async function startFollower(
  service: ServiceName,
  kafka: { readonly brokers: readonly string[]; readonly prefix: string },
): Promise<Follower> {
  const { url, drop } = await createTestDatabase('campaign'); // For its messaging tables.
  const { logger } = captureLogs(service);
  const database = openDatabase<PrismaLike<SqlTransaction>, SqlTransaction>(
    { url },
    () => ({ $disconnect: async () => {} }) as never,
  );
  for (const kind of estateKinds)
    await database.pool.query(
      `CREATE TABLE followed_${kind}s (
         id text PRIMARY KEY, account_id text NOT NULL, aggregate_version int NOT NULL, state jsonb NOT NULL)`,
    );
  const { sqlTransaction, ping } = database;
  const consumer = createConsumer<SqlTransaction>({
    service,
    database: { transaction: sqlTransaction, sqlTransaction, ping },
    outbox: createOutbox(() => {}),
    handlers: Object.values(followed).flatMap(({ handlers }) => handlers),
    logger,
  });
  const transport = createKafkaTransport({ ...kafka, clientId: service, logger });
  transport.declare([organizationEvents]);
  transport.subscribe(consumer.subscription);
  await transport.start();

  return {
    catchUp: (client, dawdle) =>
      catchUp<EstatePage>({
        name: 'estate',
        database,
        logger,
        pages: async (cursor) => {
          const page = await snapshotPage(client, cursor, 250);
          await dawdle(page);
          return page;
        },
        apply: (page) => estateKinds.map((kind) => followed[kind].of(page[`${kind}s`] as never)),
      }).run(new AbortController().signal),
    rows: () =>
      ofEach(async (kind) => {
        const sql = `SELECT id, account_id, aggregate_version, state FROM followed_${kind}s ORDER BY id COLLATE "C"`;
        return (await database.pool.query<object>(sql)).rows;
      }),
    async heard() {
      const sql =
        'SELECT (SELECT count(*)::int FROM inbox) AS done, (SELECT count(*)::int FROM dead_letters) AS buried';
      return (await database.pool.query(sql)).rows[0];
    },
    async stop() {
      await transport.stopConsuming();
      await transport.close();
      await database.close();
      await drop();
    },
  };
}

const snapshotPage = async (client: Client, cursor: string | null, limit: number) =>
  (
    await client.call(estateSnapshot, {
      query: { limit, cursor: cursor ?? undefined },
    })
  ).body;

/** The whole estate by the snapshot, in the form of a follower's rows. */
export async function wholeEstate(client: Client): Promise<Rows> {
  const pages: EstatePage[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await snapshotPage(client, cursor ?? null, 2_000);
    pages.push(page);
    cursor = page.next_cursor;
  }
  return ofEach(async (kind) =>
    pages.flatMap((page) =>
      (page[`${kind}s`] as readonly Told[]).map((told) => {
        const state = told[kind] as { readonly id: string };
        const { account_id, aggregate_version } = told;
        return { id: state.id, account_id, aggregate_version, state };
      }),
    ),
  );
}

async function ofEach(read: (kind: EstateKind) => Promise<readonly object[]>): Promise<Rows> {
  const entries = await Promise.all(estateKinds.map(async (kind) => [kind, await read(kind)] as const));
  return Object.fromEntries(entries) as Rows;
}
