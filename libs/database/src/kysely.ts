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
 * The query builder of a service's stores (ADR 0027): `db(tx)` is Kysely over `Database.sql` or over the transaction that a
 * store was given. `Tables` are the types that `prisma generate` writes from the schema.
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
 * Matches one of the values, as in `where('id', '=', anyOf(ids))`. The list is one parameter, so that lists of any length
 * share one prepared statement; with `in` each length would be another statement.
 */
export const anyOf = <Value>(values: readonly Value[]) => sql<Value>`any(${values})`;

/** Only `Database` begins transactions, because it repeats them after a deadlock and runs their commit hooks. */
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

/** Compiles statements. It is made once, as making it for each transaction took as long as an insert. */
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
