import type { EstateMedia } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import type { Grants } from './grants.ts';

export interface ImportRow {
  readonly id: string;
  readonly account_id: string;
  readonly created_by: string;
  readonly grants: Grants;
  readonly dry_run: boolean;
  readonly media: EstateMedia;
  readonly status: 'queued' | 'running' | 'succeeded' | 'failed';
  readonly error: string | null;
  readonly traceparent: string | null;
  readonly staged_at: Date | null;
  readonly total: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly refused: number;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
}

export type NewImport = Pick<
  ImportRow,
  'id' | 'account_id' | 'created_by' | 'grants' | 'dry_run' | 'media' | 'traceparent' | 'created_at'
>;

export async function insertImport(tx: Sql, row: NewImport): Promise<ImportRow> {
  const [inserted] = await tx.$queryRaw<ImportRow[]>`
    INSERT INTO estate_imports (id, account_id, created_by, grants, dry_run, media, traceparent, created_at)
    VALUES (${row.id}, ${row.account_id}, ${row.created_by}, ${row.grants && JSON.stringify(row.grants)}::jsonb,
      ${row.dry_run}, ${row.media}, ${row.traceparent}, ${row.created_at}) RETURNING *`;
  return inserted as ImportRow;
}

export async function insertChunk(tx: Sql, importId: string, chunk: number, bytes: Buffer): Promise<void> {
  await tx.$executeRaw`INSERT INTO estate_import_parts (import_id, part, bytes) VALUES (${importId}, ${chunk}, ${bytes})`;
}

/**
 * The stored file, chunk by chunk. A chunk is a `part` in the database. It comes as base64, a third shorter than the
 * hexadecimal digits that a client gets otherwise: V8 collects the whole heap for every 64 MB of buffers.
 */
export async function* readChunks(db: Sql, importId: string): AsyncGenerator<Buffer> {
  for (let chunk = 0; ; chunk++) {
    const [found] = await db.$queryRaw<{ base64: string }[]>`
      SELECT encode(bytes, 'base64') AS base64 FROM estate_import_parts WHERE import_id = ${importId} AND part = ${chunk}`;
    if (!found) return;
    yield Buffer.from(found.base64, 'base64');
  }
}

/** A page of imports, newest first; only those of `creator`, if it is given. */
export async function findImports(
  db: Sql,
  accountId: string,
  creator: string | undefined,
  page: { limit: number; before: string | undefined },
): Promise<ImportRow[]> {
  return db.$queryRaw`
    SELECT * FROM estate_imports
    WHERE account_id = ${accountId} AND (${creator ?? null}::text IS NULL OR created_by = ${creator ?? null})
      AND (${page.before ?? null}::text IS NULL OR id < ${page.before ?? null})
    ORDER BY id DESC LIMIT ${page.limit}`;
}

export async function findImport(
  db: Sql,
  accountId: string,
  creator: string | undefined,
  id: string,
): Promise<ImportRow | undefined> {
  const [found] = await db.$queryRaw<
    ImportRow[]
  >`SELECT * FROM estate_imports WHERE id = ${id} AND account_id = ${accountId}`;
  return found && (creator === undefined || found.created_by === creator) ? found : undefined;
}

/** Until the transaction ends, no other one can add an import of the account. */
export async function lockImportsOf(tx: Sql, accountId: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${accountId}, 3))`;
}

/** Counts the imports of an account that wait or run. */
export async function countUnfinished(db: Sql, accountId: string): Promise<number> {
  const [found] = await db.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM estate_imports
    WHERE account_id = ${accountId} AND status IN ('queued', 'running')`;
  return found?.count ?? 0;
}

/**
 * The next import to work on, of an account that is not among `others`: the oldest one that waits or runs, of the account on
 * whose imports work began the longest time ago.
 */
export async function findNextUnfinished(db: Sql, others: readonly string[]): Promise<ImportRow | undefined> {
  const [found] = await db.$queryRaw<ImportRow[]>`
    SELECT i.* FROM (
      SELECT account_id, min(id) AS id FROM estate_imports
      WHERE status IN ('queued', 'running') AND account_id <> ALL(${others}::text[]) GROUP BY account_id
    ) AS oldest JOIN estate_imports AS i USING (id)
    ORDER BY (SELECT max(worked_at) FROM estate_imports AS own WHERE own.account_id = i.account_id) NULLS FIRST, i.id
    LIMIT 1`;
  return found;
}

/** Thrown when another worker turns out to work on the same import; this one then leaves the import to the other. */
export class ConcurrentWorker extends Error {
  constructor() {
    super('Another worker works on the same import');
  }
}

/**
 * Keeps the import from being ended until the transaction ends; returns false if it has ended already. It also turns
 * cached plans off for the transaction: a plan that was made while the tables were small would scan them for each row.
 */
export async function lockImport(tx: Sql, id: string): Promise<boolean> {
  await tx.$executeRaw`
    SELECT pg_advisory_xact_lock_shared(hashtextextended(${id}, 3)), set_config('plan_cache_mode', 'force_custom_plan', true)`;
  const found = await tx.$queryRaw<unknown[]>`SELECT 1 FROM estate_imports WHERE id = ${id} AND status = 'running'`;
  return found.length === 1;
}

/** Waits for the transactions that hold `lockImport`, and excludes others until the commit. */
async function lockExclusively(tx: Sql, id: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${id}, 3))`;
}

/** Lets one worker at a time stage the rows. Returns false if the import has ended, or if its rows are staged. */
export async function lockUnstaged(tx: Sql, id: string): Promise<boolean> {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM estate_imports WHERE id = ${id} AND status = 'running' AND staged_at IS NULL FOR NO KEY UPDATE`;
  return found.length === 1;
}

/**
 * Counts an attempt before the work, because a process that dies of it cannot count afterwards. Returns the attempts since
 * the last progress; undefined if the import has ended.
 */
export async function beginAttempt(db: Sql, id: string, now: Date): Promise<number | undefined> {
  const [found] = await db.$queryRaw<{ attempts: number }[]>`
    UPDATE estate_imports SET status = 'running', started_at = coalesce(started_at, ${now}), worked_at = ${now},
      attempts = attempts + 1
    WHERE id = ${id} AND status IN ('queued', 'running') RETURNING attempts`;
  return found?.attempts;
}

/** Takes an attempt back that failed for a reason other than the import. */
export async function excuseAttempt(db: Sql, id: string): Promise<void> {
  await db.$executeRaw`UPDATE estate_imports SET attempts = greatest(attempts - 1, 0) WHERE id = ${id}`;
}

/** Returns the import as it ended; undefined if it had ended before. */
export async function endImport(tx: Sql, id: string, error: string | null, now: Date): Promise<ImportRow | undefined> {
  await lockExclusively(tx, id);
  const [ended] = await tx.$queryRaw<ImportRow[]>`
    UPDATE estate_imports SET status = (CASE WHEN ${error}::text IS NULL THEN 'succeeded' ELSE 'failed' END)::"EstateImportStatus",
      error = ${error}, finished_at = ${now}
    WHERE id = ${id} AND status = 'running' RETURNING *`;
  await tx.$executeRaw`DELETE FROM estate_import_parts WHERE import_id = ${id}`;
  return ended;
}

/** Ends an import wherever it is; after the commit no worker can write for it. */
export async function stopImport(tx: Sql, id: string, now: Date): Promise<void> {
  await lockExclusively(tx, id);
  await tx.$executeRaw`
    UPDATE estate_imports SET status = 'failed', finished_at = ${now} WHERE id = ${id} AND finished_at IS NULL`;
}

/** Records that all rows are staged, and deletes the file. */
export async function markStaged(tx: Sql, id: string, rows: { total: number; refused: number }, now: Date) {
  await tx.$executeRaw`
    UPDATE estate_imports SET staged_at = ${now}, total = ${rows.total}, refused = ${rows.refused}, attempts = 0
    WHERE id = ${id}`;
  await tx.$executeRaw`DELETE FROM estate_import_parts WHERE import_id = ${id}`;
}

export type Counts = Readonly<Record<'created' | 'updated' | 'unchanged' | 'refused', number>>;

export async function addCounts(tx: Sql, id: string, { created, updated, unchanged, refused }: Counts): Promise<void> {
  await tx.$executeRaw`
    UPDATE estate_imports SET created = created + ${created}, updated = updated + ${updated},
      unchanged = unchanged + ${unchanged}, refused = refused + ${refused}, attempts = 0
    WHERE id = ${id}`;
}

/** Some imports that ended before that time. */
export async function findEnded(db: Sql, before: Date, limit: number): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM estate_imports WHERE finished_at < ${before} ORDER BY id LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}

export async function countEnded(db: Sql, before: Date): Promise<number> {
  const [row] = await db.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM estate_imports WHERE finished_at < ${before}`;
  return row?.count ?? 0;
}

export async function findOfAccount(db: Sql, accountId: string): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>`SELECT id FROM estate_imports WHERE account_id = ${accountId}`;
  return rows.map(({ id }) => id);
}

export async function deleteImport(tx: Sql, id: string): Promise<void> {
  await tx.$executeRaw`DELETE FROM estate_imports WHERE id = ${id}`;
}
