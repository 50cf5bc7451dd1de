import type { Sql } from '@attribution/database';
import { columnsOf, type EstateRow, groupOf, type Kind } from './kind.ts';
import { type Scope, sees } from './scope.ts';

// Reads rows of any kind within a scope, and writes many with one statement.

/** The select list for a row of the kind, over the table `t`. */
export const selectionOf = (kind: Kind<never>) =>
  [...columnsOf(kind).map((name) => `t.${name}`), ...(kind.computed ? [kind.computed] : [])].join(', ');

/** One row, if it is within the scope. */
export async function findOne<Row extends EstateRow>(
  db: Sql,
  kind: Kind<Row>,
  scope: Scope,
  id: string,
): Promise<Row | undefined> {
  const text = `SELECT ${selectionOf(kind)} FROM ${kind.table} t WHERE t.id = $1 AND t.account_id = $2`;
  const [row] = await db.$queryRawUnsafe<Row[]>(text, id, scope.accountId);
  return row && sees(scope, groupOf(row)) ? row : undefined;
}

/**
 * What other transactions cannot do with a locked row until the commit. `changing`: change it. `removing`: change it or
 * put anything into it. `holding`: remove or move it; others may hold it at the same time.
 */
export type LockMode = 'changing' | 'removing' | 'holding';
const locks = { changing: 'FOR NO KEY UPDATE', removing: 'FOR UPDATE', holding: 'FOR KEY SHARE' } as const;

/** Like `findOne`, and locks the row until the commit. */
export async function lockOne<Row extends EstateRow>(
  tx: Sql,
  kind: Kind<Row>,
  scope: Scope,
  id: string,
  mode: LockMode,
): Promise<Row | undefined> {
  const text = `SELECT ${selectionOf(kind)} FROM ${kind.table} t WHERE t.id = $1 AND t.account_id = $2
    ${locks[mode]} OF t`;
  const [row] = await tx.$queryRawUnsafe<Row[]>(text, id, scope.accountId);
  if (!row || !sees(scope, groupOf(row))) return undefined;
  // After waiting for a lock, the row is current, but its computed columns are from before the wait: read them again.
  return kind.computed ? findOne(tx, kind, scope, id) : row;
}

/** Counts what `changed` has inserted or deleted, which estate_totals sums up. */
const counted = ({ name }: Pick<Kind, 'name'>, sign: '' | '-') =>
  `INSERT INTO estate_totals (account_id, kind, change) SELECT account_id, '${name}', ${sign}count(*) FROM changed GROUP BY 1`;

/** Inserts rows with what is nested in them. */
export async function insertRows<Row extends EstateRow>(tx: Sql, kind: Kind<Row>, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  const columns = columnsOf(kind).join(', ');
  const text = `WITH changed AS (
      INSERT INTO ${kind.table} (${columns})
      SELECT ${columns} FROM jsonb_populate_recordset(NULL::${kind.table}, $1::jsonb) RETURNING account_id)
    ${counted(kind, '')}`;
  await tx.$executeRawUnsafe(text, JSON.stringify(rows));
  await kind.nested?.write(tx, rows);
}

/** Overwrites rows that exist, with what is nested in them. */
export async function updateRows<Row extends EstateRow>(tx: Sql, kind: Kind<Row>, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  await kind.nested?.clear(
    tx,
    rows.map(({ id }) => id),
  );
  const columns = columnsOf(kind).filter((name) => name !== 'id' && name !== 'account_id');
  const text = `UPDATE ${kind.table} t SET (${columns.join(', ')}) = ROW(${columns.map((name) => `r.${name}`).join(', ')})
    FROM jsonb_populate_recordset(NULL::${kind.table}, $1::jsonb) r WHERE t.id = r.id AND t.account_id = r.account_id`;
  await tx.$executeRawUnsafe(text, JSON.stringify(rows));
  await kind.nested?.write(tx, rows);
}

/** What is known of a row after its deletion. */
export type DeletedRow = Pick<EstateRow, 'id' | 'account_id' | 'aggregate_version'>;

export async function deleteOne(tx: Sql, kind: Pick<Kind, 'name' | 'table'>, row: DeletedRow): Promise<void> {
  const text = `WITH changed AS (DELETE FROM ${kind.table} WHERE id = $1 RETURNING account_id) ${counted(kind, '-')}`;
  await tx.$executeRawUnsafe(text, row.id);
}

/** Deletes up to `limit` rows of an account, and returns them. */
export async function deleteSome(
  tx: Sql,
  kind: Pick<Kind, 'name' | 'table'>,
  accountId: string,
  limit: number,
): Promise<DeletedRow[]> {
  const text = `WITH changed AS (
      DELETE FROM ${kind.table} WHERE id = ANY(ARRAY(
        SELECT id FROM ${kind.table} WHERE account_id = $1 ORDER BY id LIMIT $2))
      RETURNING id, account_id, aggregate_version),
    counted AS (${counted(kind, '-')})
    SELECT * FROM changed`;
  return tx.$queryRawUnsafe<DeletedRow[]>(text, accountId, limit);
}

/** Counts the rows of some accounts. */
export async function countOf(db: Sql, { table }: Pick<Kind, 'table'>, accountIds: readonly string[]): Promise<number> {
  const text = `SELECT count(*)::int AS count FROM ${table} WHERE account_id = ANY($1::text[])`;
  const [row] = await db.$queryRawUnsafe<{ count: number }[]>(text, accountIds);
  return row?.count ?? 0;
}

/** A page of all rows of an account, or of every account, by id: for snapshots. */
export async function findAll<Row extends EstateRow>(
  db: Sql,
  kind: Kind<Row>,
  page: { accountId: string | undefined; after: string; limit: number },
): Promise<Row[]> {
  const own = page.accountId === undefined ? '' : 'AND t.account_id = $3';
  const text = `SELECT ${selectionOf(kind)} FROM ${kind.table} t WHERE t.id > $1 ${own} ORDER BY t.id LIMIT $2`;
  const values = [page.after, page.limit, ...(page.accountId === undefined ? [] : [page.accountId])];
  return db.$queryRawUnsafe<Row[]>(text, ...values);
}

/** The rows of an account with one of these values in a column, by id. */
export async function findWith<Row extends EstateRow>(
  db: Sql,
  kind: Kind<Row>,
  { accountId, column, values }: { accountId: string; column: 'id' | 'device_id'; values: readonly string[] },
): Promise<Row[]> {
  const text = `SELECT ${selectionOf(kind)} FROM ${kind.table} t
    WHERE t.account_id = $1 AND t.${column} = ANY($2::text[]) ORDER BY t.id`;
  return db.$queryRawUnsafe<Row[]>(text, accountId, values);
}
