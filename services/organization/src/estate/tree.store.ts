import type { Sql } from '@attribution/database';
import { columnsOf, type EstateRow, groupOf, type Kind } from './kind.ts';
import { type Scope, sees } from './scope.ts';

// The rows of every kind: reading them within a scope, and writing many by one statement.

/** What a row of the kind is read by, over the table `t`. */
export const selectionOf = (kind: Kind<never>) =>
  [...columnsOf(kind).map((name) => `t.${name}`), ...(kind.computed ? [kind.computed] : [])].join(', ');

/** One row, where the scope has it. */
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
 * What a lock keeps others from until the commit. `changing`: changing it too. `removing`: putting anything into it,
 * as well. `holding`: removing or moving it; others may hold it at once.
 */
export type LockMode = 'changing' | 'removing' | 'holding';
const locks = { changing: 'FOR NO KEY UPDATE', removing: 'FOR UPDATE', holding: 'FOR KEY SHARE' } as const;

/** As `findOne`, and what is read holds until the commit. */
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
  // After a wait the row is as it is now, but what is computed of other tables as it was before: read it anew.
  return kind.computed ? findOne(tx, kind, scope, id) : row;
}

/** Inserts rows, whole. */
export async function insertRows<Row extends EstateRow>(tx: Sql, kind: Kind<Row>, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  const columns = columnsOf(kind).join(', ');
  const text = `INSERT INTO ${kind.table} (${columns})
    SELECT ${columns} FROM jsonb_populate_recordset(NULL::${kind.table}, $1::jsonb)`;
  await tx.$executeRawUnsafe(text, JSON.stringify(rows));
  await kind.parts?.write(tx, rows);
}

/** Writes rows that are there, whole. */
export async function updateRows<Row extends EstateRow>(tx: Sql, kind: Kind<Row>, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  await kind.parts?.clear(
    tx,
    rows.map(({ id }) => id),
  );
  const columns = columnsOf(kind).filter((name) => name !== 'id' && name !== 'account_id');
  const text = `UPDATE ${kind.table} t SET (${columns.join(', ')}) = ROW(${columns.map((name) => `r.${name}`).join(', ')})
    FROM jsonb_populate_recordset(NULL::${kind.table}, $1::jsonb) r WHERE t.id = r.id AND t.account_id = r.account_id`;
  await tx.$executeRawUnsafe(text, JSON.stringify(rows));
  await kind.parts?.write(tx, rows);
}

/** What is left of a row that was deleted. */
export type Gone = Pick<EstateRow, 'id' | 'account_id' | 'aggregate_version'>;

export async function deleteOne(tx: Sql, { table }: Pick<Kind, 'table'>, row: Gone): Promise<void> {
  await tx.$executeRawUnsafe(`DELETE FROM ${table} WHERE id = $1`, row.id);
}

/** Deletes some of an account's rows, `limit` at most: those that were deleted. */
export async function deleteSome(
  tx: Sql,
  { table }: Pick<Kind, 'table'>,
  accountId: string,
  limit: number,
): Promise<Gone[]> {
  const text = `DELETE FROM ${table} WHERE id = ANY(ARRAY(
      SELECT id FROM ${table} WHERE account_id = $1 ORDER BY id LIMIT $2))
    RETURNING id, account_id, aggregate_version`;
  return tx.$queryRawUnsafe<Gone[]>(text, accountId, limit);
}

/** How many rows some accounts have. */
export async function countOf(db: Sql, { table }: Pick<Kind, 'table'>, accountIds: readonly string[]): Promise<number> {
  const text = `SELECT count(*)::int AS count FROM ${table} WHERE account_id = ANY($1::text[])`;
  const [row] = await db.$queryRawUnsafe<{ count: number }[]>(text, accountIds);
  return row?.count ?? 0;
}

/** A page of all there is, of an account or of every account, by id: for those who project it. */
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
