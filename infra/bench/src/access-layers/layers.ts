import { anyOf, type Database, kyselyOf, type Sql, type SqlText, type SqlTransaction } from '@attribution/database';
import { newId, newUuid } from '@attribution/ids';
import type { Kysely } from 'kysely';
import type { PoolClient } from 'pg';

/** An account, one of its groups, and the first location in that group. */
export interface Home {
  readonly account: string;
  readonly group: string;
  readonly location: string;
}

/** The same work through one data-access library. */
export interface Layer {
  /** One location. */
  get(account: string, id: string): Promise<unknown>;
  /** The account's first locations. */
  list(account: string, limit: number): Promise<unknown>;
  /** The locations after a given one, in some groups: a page of a list of the API, for a narrowed caller. */
  page(home: Home, limit: number): Promise<unknown>;
  /** A group and its event, in one transaction. */
  create(account: string): Promise<unknown>;
}

/** The methods used of the generated client. Its own types do not exist before the benchmark generates it. */
export interface GeneratedClient extends SqlTransaction {
  readonly location: Record<'findFirst' | 'findMany', (args: object) => Promise<unknown>>;
  readonly group: { create(args: object): Promise<unknown> };
  readonly outboxMessage: { create(args: object): Promise<unknown> };
  $queryRawTyped(query: unknown): Promise<unknown>;
  $transaction<T>(work: (tx: GeneratedClient) => Promise<T>): Promise<T>;
  $disconnect(): Promise<void>;
}

/** The `Prisma` object of a generated client, which composes statements from fragments. */
export interface Fragments {
  sql(template: TemplateStringsArray, ...values: unknown[]): SqlText;
  join(fragments: readonly SqlText[], separator: string): SqlText;
  raw(text: string): SqlText;
}

/** The function that `prisma generate --sql` writes into the module of each query. */
export type TypedQueryFactory = (sql: string) => (...values: unknown[]) => unknown;

const columns = `id, group_id, name, timezone, address, latitude, longitude, venue_type, opening_hours, status::text,
  created_at, updated_at`;
const sql = {
  get: `SELECT ${columns} FROM locations WHERE account_id = $1 AND id = $2`,
  list: `SELECT ${columns} FROM locations WHERE account_id = $1 ORDER BY id LIMIT $2`,
  page: `SELECT ${columns} FROM locations WHERE account_id = $1 AND group_id = ANY($2) AND id > $3 ORDER BY id LIMIT $4`,
  group: `INSERT INTO groups (id, account_id, name, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)`,
  event: `INSERT INTO outbox (event_id, topic, type, version, account_id, key, occurred_at, data)
    VALUES ($1::uuid, 'organization.events', 'group.created', 1, $2, $2, $3, $4::jsonb)`,
};

const name = 'Main';

function newRows(account: string) {
  const now = new Date();
  const id = newId('group');
  const event = newUuid();
  return { account, now, id, event, data: { account_id: account, group: { id, name } } };
}
type Rows = ReturnType<typeof newRows>;
const groupValues = ({ id, account, now }: Rows) => [id, account, name, now];
const eventValues = ({ event, account, now, data }: Rows) => [event, account, now, JSON.stringify(data)];

/** Prisma's models: `findMany`, `create`. */
export function modelLayer({ prisma }: Database<GeneratedClient>): Layer {
  return {
    get: (account, id) => prisma.location.findFirst({ where: { account_id: account, id } }),
    list: (account, limit) =>
      prisma.location.findMany({ where: { account_id: account }, orderBy: { id: 'asc' }, take: limit }),
    page: ({ account, group, location }, limit) =>
      prisma.location.findMany({
        where: { account_id: account, group_id: { in: [group] }, id: { gt: location } },
        orderBy: { id: 'asc' },
        take: limit,
      }),
    create: (account) =>
      prisma.$transaction(async (tx) => {
        const { id, now, event, data } = newRows(account);
        await tx.group.create({ data: { id, account_id: account, name, created_at: now, updated_at: now } });
        const envelope = { type: 'group.created', version: 1, account_id: account, key: account, occurred_at: now };
        await tx.outboxMessage.create({ data: { event_id: event, topic: 'organization.events', ...envelope, data } });
      }),
  };
}

/** Prisma's typed SQL, called as the generated modules call it. */
export function typedLayer({ prisma }: Database<GeneratedClient>, factory: TypedQueryFactory): Layer {
  const [get, list, page, group, event] = [sql.get, sql.list, sql.page, sql.group, sql.event].map(factory);
  if (!get || !list || !page || !group || !event) throw new Error('A query is missing');
  return {
    get: (account, id) => prisma.$queryRawTyped(get(account, id)),
    list: (account, limit) => prisma.$queryRawTyped(list(account, limit)),
    page: (home, limit) => prisma.$queryRawTyped(page(home.account, [home.group], home.location, limit)),
    create: (account) =>
      prisma.$transaction(async (tx) => {
        const rows = newRows(account);
        await tx.$queryRawTyped(group(...groupValues(rows)));
        await tx.$queryRawTyped(event(...eventValues(rows)));
      }),
  };
}

/** `$queryRaw`, and `$executeRaw` in a Prisma transaction. */
export function rawLayer({ prisma }: Database<GeneratedClient>): Layer {
  return {
    get: async (account, id) => prisma.$queryRawUnsafe(sql.get, account, id),
    list: async (account, limit) => prisma.$queryRawUnsafe(sql.list, account, limit),
    page: async ({ account, group, location }, limit) =>
      prisma.$queryRawUnsafe(sql.page, account, [group], location, limit),
    create: (account) =>
      prisma.$transaction(async (tx) => {
        const rows = newRows(account);
        await tx.$executeRawUnsafe(sql.group, ...groupValues(rows));
        await tx.$executeRawUnsafe(sql.event, ...eventValues(rows));
      }),
  };
}

/** Tagged templates, composed from fragments at each call and sent as prepared statements. */
export function composedLayer(database: Database<GeneratedClient>, { sql: fragment, join, raw }: Fragments): Layer {
  const selected = raw(columns);
  const find = (conditions: readonly SqlText[], limit: number) =>
    database.sql.$queryRaw(fragment`
      SELECT ${selected} FROM locations WHERE ${join(conditions, ' AND ')} ORDER BY id LIMIT ${limit}`);
  const inAccount = (account: string) => fragment`account_id = ${account}`;
  return {
    get: async (account, id) => find([inAccount(account), fragment`id = ${id}`], 1),
    list: async (account, limit) => find([inAccount(account)], limit),
    page: async ({ account, group, location }, limit) =>
      find([inAccount(account), fragment`group_id = ANY(${[group]})`, fragment`id > ${location}`], limit),
    create: (account) =>
      database.sqlTransaction(async (tx) => {
        const { id, now, event, data } = newRows(account);
        await tx.$executeRaw`INSERT INTO groups (id, account_id, name, created_at, updated_at)
          VALUES (${id}, ${account}, ${name}, ${now}, ${now})`;
        await tx.$executeRaw`INSERT INTO outbox (event_id, topic, type, version, account_id, key, occurred_at, data)
          VALUES (${event}, 'organization.events', 'group.created', 1, ${account}, ${account}, ${now}, ${JSON.stringify(data)})`;
      }),
  };
}

const columnList = ['id', 'group_id', 'name', 'timezone', 'address', 'latitude', 'longitude', 'venue_type'] as const;
const otherColumns = ['opening_hours', 'status', 'created_at', 'updated_at'] as const;

interface Tables {
  locations: Record<(typeof columnList)[number] | 'account_id', string> &
    Record<(typeof otherColumns)[number], unknown>;
  groups: { id: string; account_id: string; name: string; created_at: Date; updated_at: Date };
  outbox: Record<'event_id' | 'topic' | 'type' | 'account_id' | 'key' | 'data', string> & {
    version: number;
    occurred_at: Date;
  };
}

/** Kysely, which compiles a statement at each call; sent as prepared statements. */
export function kyselyLayer(database: Database<GeneratedClient>): Layer {
  const over: (sql: Sql) => Kysely<Tables> = kyselyOf<Tables>();
  const db = over(database.sql);
  const inAccount = (account: string) =>
    db
      .selectFrom('locations')
      .select([...columnList, ...otherColumns])
      .where('account_id', '=', account);
  return {
    get: (account, id) => inAccount(account).where('id', '=', id).executeTakeFirst(),
    list: (account, limit) => inAccount(account).orderBy('id').limit(limit).execute(),
    page: ({ account, group, location }, limit) =>
      inAccount(account)
        .where('group_id', '=', anyOf([group]))
        .where('id', '>', location)
        .orderBy('id')
        .limit(limit)
        .execute(),
    create: (account) =>
      database.sqlTransaction(async (sql) => {
        const tx = over(sql);
        const { id, now, event, data } = newRows(account);
        const row = { id, account_id: account, name, created_at: now, updated_at: now };
        await tx.insertInto('groups').values(row).execute();
        const envelope = { type: 'group.created', version: 1, account_id: account, key: account, occurred_at: now };
        const message = { event_id: event, topic: 'organization.events', ...envelope, data: JSON.stringify(data) };
        await tx.insertInto('outbox').values(message).execute();
      }),
  };
}

/** pg itself, with named prepared statements and explicit BEGIN and COMMIT. */
export function pgLayer({ pool }: Database<GeneratedClient>): Layer {
  const prepared = (statement: keyof typeof sql, values: unknown[]) => ({
    name: statement,
    text: sql[statement],
    values,
  });
  const create = async (client: PoolClient, account: string) => {
    const rows = newRows(account);
    await client.query('BEGIN');
    await client.query(prepared('group', groupValues(rows)));
    await client.query(prepared('event', eventValues(rows)));
    await client.query('COMMIT');
  };
  return {
    get: async (account, id) => (await pool.query(prepared('get', [account, id]))).rows,
    list: async (account, limit) => (await pool.query(prepared('list', [account, limit]))).rows,
    page: async ({ account, group, location }, limit) =>
      (await pool.query(prepared('page', [account, [group], location, limit]))).rows,
    async create(account) {
      const client = await pool.connect();
      await create(client, account).finally(() => client.release());
    },
  };
}
