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

/** The data of an estate event, which contains the whole resource. */
interface EventData {
  readonly account_id: string;
  readonly aggregate_version: number;
  readonly [kind: string]: unknown;
}

export type EstatePage = z.output<typeof estateSnapshot.success.body>;

/** A projection that stores whole resources of one kind. */
function follow(kind: EstateKind, created: EventType, updated: EventType, deleted: EventType) {
  return projection<never, never>({
    table: `followed_${kind}s`,
    states: [created, updated] as never,
    gone: deleted as never,
    row: (data: EventData) => {
      const state = data[kind] as { readonly id: string };
      return { id: state.id, account_id: data.account_id, state };
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

/** A follower's rows by kind. */
export type Rows = Record<EstateKind, readonly object[]>;

export interface Follower {
  /** Reads the whole snapshot. `onPage` is called after each page was read and before it is applied. */
  catchUp(client: Client, onPage: (page: EstatePage) => Promise<void>): Promise<void>;
  rows(): Promise<Rows>;
  /** The numbers of handled events and of dead letters. */
  handledCounts(): Promise<{ readonly handled: number; readonly deadLetters: number }>;
  stop(): Promise<void>;
}

/** A service that follows all six kinds, with its own database and consumer group. */
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
  // The service of that name may run, too.
  transport.subscribe({ ...consumer.subscription, group: `${service}-follower` });
  await transport.start();

  return {
    catchUp: (client, onPage) =>
      catchUp<EstatePage>({
        name: 'estate',
        database,
        logger,
        pages: async (cursor) => {
          const page = await snapshotPage(client, cursor, 250);
          await onPage(page);
          return page;
        },
        apply: (page) => estateKinds.map((kind) => followed[kind].of(page[`${kind}s`] as never)),
      }).run(new AbortController().signal),
    rows: () =>
      forEachKind(async (kind) => {
        const sql = `SELECT id, account_id, aggregate_version, state FROM followed_${kind}s ORDER BY id COLLATE "C"`;
        return (await database.pool.query<object>(sql)).rows;
      }),
    async handledCounts() {
      const sql =
        'SELECT (SELECT count(*)::int FROM inbox) AS handled, (SELECT count(*)::int FROM dead_letters) AS "deadLetters"';
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

/** Reads the whole estate from the snapshot, in the form of a follower's rows. */
export async function wholeEstate(client: Client): Promise<Rows> {
  const pages: EstatePage[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await snapshotPage(client, cursor ?? null, 2_000);
    pages.push(page);
    cursor = page.next_cursor;
  }
  return forEachKind(async (kind) =>
    pages.flatMap((page) =>
      (page[`${kind}s`] as readonly EventData[]).map((data) => {
        const state = data[kind] as { readonly id: string };
        const { account_id, aggregate_version } = data;
        return { id: state.id, account_id, aggregate_version, state };
      }),
    ),
  );
}

async function forEachKind(read: (kind: EstateKind) => Promise<readonly object[]>): Promise<Rows> {
  const entries = await Promise.all(estateKinds.map(async (kind) => [kind, await read(kind)] as const));
  return Object.fromEntries(entries) as Rows;
}
