import { Problem } from '@attribution/contracts';
import type { createLogger } from '@attribution/runtime';
import { type ApplyDependencies, applyUnits } from './apply-units.ts';
import { deleteSomeBatches, deleteUnits } from './batch.store.ts';
import { deleteRows } from './delete-imports.ts';
import {
  beginAttempt,
  ConcurrentWorker,
  endImport,
  excuseAttempt,
  findImport,
  findNextUnfinished,
  type ImportRow,
  lockUnstaged,
} from './import.store.ts';
import { stage } from './stage.ts';

export const importJob = 'run-estate-imports';

interface RunDependencies extends ApplyDependencies {
  readonly logger: ReturnType<typeof createLogger>;
  /** Milliseconds until an import that sets up rows lets those of other accounts take their turn. Default: 5,000. */
  readonly turnMs?: number;
}

/** Attempts at an import without progress in between, whether it failed for a reason other than its file, or its process died. */
const maxAttempts = 3;
/** Imports that are worked on at once, each of another account. */
const lanes = 2;
const batchesPerStatement = 5_000;

/**
 * Works on imports, until none is left. Accounts take turns, and none has two at once; the imports of an account are done in
 * order. An import that was interrupted goes on where it stopped. Rejects at the end if one has failed and is to be tried again.
 */
export function runImports(deps: RunDependencies) {
  const { sql } = deps.database;
  /** Imports whose last attempt ended because the database was away, which could not be written down then. */
  const owed = new Set<string>();
  return {
    name: importJob,
    every: 5_000,
    async run(stopping: AbortSignal) {
      /** Accounts that an import is being worked on, or has failed, during this run. */
      const taken = new Set<string>();
      const errors: unknown[] = [];
      let previous: Promise<unknown> = Promise.resolve();
      /** One after the other, so that no two lanes choose the same account. */
      const next = () => {
        const chosen = previous.then(async () => {
          const job = stopping.aborted ? undefined : await findNextUnfinished(sql, [...taken]);
          if (job) taken.add(job.account_id);
          return job;
        });
        previous = chosen.catch(() => {});
        return chosen;
      };
      const work = async () => {
        for (let job = await next(); job; job = await next()) {
          if (owed.delete(job.id)) await excuseAttempt(sql, job.id);
          const error = await attempt(deps, job, stopping, owed);
          if (error === undefined) taken.delete(job.account_id);
          else errors.push(error);
        }
      };
      const ended = await Promise.allSettled(Array.from({ length: lanes }, work));
      for (const one of ended) if (one.status === 'rejected') throw one.reason;
      if (errors.length > 0) throw errors[0];
    },
  };
}

/** Gives an import its turn. Returns the error if it failed and is to be tried again. */
async function attempt(
  deps: RunDependencies,
  job: ImportRow,
  stopping: AbortSignal,
  owed: Set<string>,
): Promise<unknown> {
  const { database, logger, clock } = deps;
  const attempts = await beginAttempt(database.sql, job.id, clock.now());
  if (attempts === undefined) return undefined;
  // The processes of the earlier attempts have died, or they would have ended the import.
  if (attempts > maxAttempts) return void (await fail(deps, job.id, undone));
  try {
    const done = await runImport(deps, job, stopping);
    if (!done) await excuseAttempt(database.sql, job.id);
    return undefined;
  } catch (error) {
    if (error instanceof ConcurrentWorker) {
      await excuseAttempt(database.sql, job.id);
      return error;
    }
    owed.add(job.id);
    await database.ping(); // If this throws, the database is away, and the import is not to blame.
    owed.delete(job.id);
    logger.warn({ err: error, import: job.id, attempts }, 'An import of an estate failed');
    if (attempts < maxAttempts) return error;
    await fail(deps, job.id, undone);
    return undefined;
  }
}

const undone = 'The import could not be done. What it had set up until then stays.';

/** Returns false if its turn was over, or `stopping` was aborted, before the end. */
async function runImport(deps: RunDependencies, job: ImportRow, stopping: AbortSignal): Promise<boolean> {
  const { sql } = deps.database;
  const { turnMs = 5_000 } = deps;
  if (!job.staged_at) {
    try {
      if (!(await stage(deps, job, stopping))) return false;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      await fail(deps, job.id, error.detail ?? 'The file cannot be read.', { unread: true });
      return true;
    }
  }
  const staged = await findImport(sql, job.account_id, undefined, job.id);
  if (!staged) return true;
  const end = performance.now() + turnMs;
  if (!(await applyUnits(deps, staged, () => stopping.aborted || performance.now() > end))) return false;
  await succeed(deps, job);
  return true;
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
