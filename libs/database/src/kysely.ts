import {
  type CompiledQuery,
  type DatabaseConnection,
  DeleteQueryNode,
  type Dialect,
  type Driver,
  InsertQueryNode,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  sql,
  UpdateQueryNode,
} from 'kysely';
import type { SqlTransaction } from './sql.ts';

/**
 * Gives a service's stores their queries (ADR 0027): `db(tx)` is Kysely over anything that speaks SQL here, which is
 * `Database.sql` or the transaction that a store was given. `Tables` are the types that `prisma generate` writes from
 * the schema.
 */
export function kyselyOf<Tables>(): (tx: SqlTransaction) => Kysely<Tables> {
  const known = new WeakMap<SqlTransaction, Kysely<Tables>>();
  return (tx) => {
    let db = known.get(tx);
    if (!db) {
      db = kyselyOver(tx);
      known.set(tx, db);
    }
    return db;
  };
}

/**
 * One of the values, as in `where('id', '=', anyOf(ids))`. The list is one parameter, so that lists of any length are one
 * prepared statement, which `in` is not.
 */
export const anyOf = <Value>(values: readonly Value[]) => sql<Value>`any(${values})`;

/** `Database` begins transactions: those are repeated after a deadlock, and know what waits for their commit. */
async function refuse(): Promise<never> {
  throw new Error('Transactions are begun by the Database, not by Kysely');
}

const driver: Driver = {
  init: async () => {},
  acquireConnection: refuse,
  releaseConnection: refuse,
  beginTransaction: refuse,
  commitTransaction: refuse,
  rollbackTransaction: refuse,
  destroy: refuse,
};

const dialect: Dialect = {
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => driver,
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
};

/** Puts statements together. Made once: making it anew for each transaction took as long as an insert. */
const compiler = new Kysely<never>({ dialect }).getExecutor();

function kyselyOver<Tables>(tx: SqlTransaction): Kysely<Tables> {
  const connection = connectionOver(tx);
  const executor = compiler.withConnectionProvider({ provideConnection: (use) => use(connection) });
  return new Kysely<Tables>({ config: { dialect }, dialect, driver, executor });
}

const connectionOver = (tx: SqlTransaction): DatabaseConnection => ({
  async executeQuery<Row>({ sql: text, parameters, query }: CompiledQuery): Promise<QueryResult<Row>> {
    if (returnsRows(query)) return { rows: await tx.$queryRawUnsafe<Row[]>(text, ...parameters) };
    const changed = await tx.$executeRawUnsafe(text, ...parameters);
    return { numAffectedRows: BigInt(changed), rows: [] };
  },
  streamQuery() {
    throw new Error('Rows are not streamed: read them in pages');
  },
});

function returnsRows(query: CompiledQuery['query']): boolean {
  const changes = InsertQueryNode.is(query) || UpdateQueryNode.is(query) || DeleteQueryNode.is(query);
  return !changes || query.returning !== undefined;
}
