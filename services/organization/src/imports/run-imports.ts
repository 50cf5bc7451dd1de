import { Problem } from '@attribution/contracts';
import type { createLogger } from '@attribution/runtime';
import { type ApplyDependencies, applyUnits } from './apply-units.ts';
import { deleteSomeBatches, deleteUnits } from './batch.store.ts';
import { deleteRows } from './delete-imports.ts';
import {
  ConcurrentWorker,
  endImport,
  findImport,
  findOldestUnfinished,
  type ImportRow,
  lockUnstaged,
  startImport,
} from './import.store.ts';
import { stage } from './stage.ts';

export const importJob = 'run-estate-imports';

interface RunDependencies extends ApplyDependencies {
  readonly logger: ReturnType<typeof createLogger>;
}

/** Attempts at an import that fails for a reason other than its file. */
const maxAttempts = 3;
const batchesPerStatement = 5_000;

/** Works on imports, one after the other, oldest first. An import that was interrupted goes on where it stopped. */
export function runImports(deps: RunDependencies) {
  const failures = new Map<string, number>();
  const { sql } = deps.database;
  return {
    name: importJob,
    every: 5_000,
    async run(stopping: AbortSignal) {
      for (let job = await findOldestUnfinished(sql); job && !stopping.aborted; job = await findOldestUnfinished(sql)) {
        try {
          await runImport(deps, job, stopping);
          failures.delete(job.id);
        } catch (error) {
          if (error instanceof ConcurrentWorker) throw error;
          await deps.database.ping(); // If this throws, the database is away, and the import is not to blame.
          const failed = (failures.get(job.id) ?? 0) + 1;
          failures.set(job.id, failed);
          deps.logger.warn({ err: error, import: job.id, failed }, 'An import of an estate failed');
          if (failed < maxAttempts) throw error;
          await fail(deps, job.id, 'The import could not be done. What it had set up until then stays.');
        }
      }
    },
  };
}

async function runImport(deps: RunDependencies, job: ImportRow, stopping: AbortSignal): Promise<void> {
  const { sql } = deps.database;
  await startImport(sql, job.id, deps.clock.now());
  if (!job.staged_at) {
    try {
      if (!(await stage(deps, job, stopping))) return;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return fail(deps, job.id, error.detail ?? 'The file cannot be read.', { unread: true });
    }
  }
  const staged = await findImport(sql, job.account_id, undefined, job.id);
  if (staged && (await applyUnits(deps, staged, stopping))) await succeed(deps, job);
}

/**
 * Refused rows are kept for the report. The marks of done units are deleted in the transaction that ends the import:
 * without them, a worker that goes on with it would apply units twice.
 */
async function succeed({ database, clock }: RunDependencies, { id }: ImportRow): Promise<void> {
  while ((await deleteSomeBatches(database.sql, id, batchesPerStatement)) > 0);
  await database.sqlTransaction(async (tx) => {
    await endImport(tx, id, null, clock.now());
    await deleteUnits(tx, id);
  });
}

/**
 * Ends the import before its rows are deleted: a running import without rows would look as if all of it were done. With
 * `unread`, it fails only if the rows are not staged yet. Otherwise another worker has staged them and deleted the file,
 * and this worker may have read only the beginning of it.
 */
async function fail(
  { database, clock }: RunDependencies,
  id: string,
  error: string,
  { unread = false } = {},
): Promise<void> {
  await database.sqlTransaction(async (tx) => {
    if (unread && !(await lockUnstaged(tx, id))) throw new ConcurrentWorker();
    await endImport(tx, id, error, clock.now());
  });
  await deleteRows(database.sql, id);
}
