import { type Client, Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import type { createLogger } from '@attribution/runtime';
import { newAuditEvent } from '@attribution/service';
import pLimit from 'p-limit';
import pTimeout from 'p-timeout';
import { type ApplyDependencies, type ApplyUnits, applyUnits } from './apply-units.ts';
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
import { createZoneFinder, type ZoneFinder } from './zones-of-points.ts';

export const importJob = 'run-estate-imports';

interface RunDependencies extends ApplyDependencies {
  readonly utilities: Client;
  readonly logger: ReturnType<typeof createLogger>;
  /** Milliseconds until an import that sets up rows lets those of other accounts take their turn. Default: 5,000. */
  readonly turnMs?: number;
  /** Milliseconds until a free lane finds an import that was sent while the others are at work, if none of them ends before. Default: 200. */
  readonly freeLaneMs?: number;
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
  const { freeLaneMs = 200 } = deps;
  const { sql } = deps.database;
  const findZones = createZoneFinder(deps.utilities);
  /** Imports whose last attempt ended because the database was away, which could not be written down then. */
  const owed = new Set<string>();
  return {
    name: importJob,
    every: 5_000,
    async run(stopping: AbortSignal) {
      /** Accounts that an import is being worked on, or has failed, during this run. */
      const taken = new Set<string>();
      const errors: unknown[] = [];
      const next = async () => {
        const job = stopping.aborted ? undefined : await findNextUnfinished(sql, [...taken]);
        if (job) taken.add(job.account_id);
        return job;
      };
      /** So that no two lanes choose the same account. */
      const oneAtATime = pLimit(1);
      let working = 0;
      let oneDone = Promise.withResolvers<void>();
      const doOne = async (job: ImportRow) => {
        if (owed.delete(job.id)) await excuseAttempt(sql, job.id);
        const error = await attempt({ ...deps, findZones }, job, stopping, owed);
        if (error === undefined) taken.delete(job.account_id);
        else errors.push(error);
      };
      /** A lane ends when none has work, or what is sent during a long import would wait until that ends. */
      const work = async () => {
        for (;;) {
          const job = await oneAtATime(next);
          if (job) {
            working++;
            await doOne(job).finally(() => {
              working--;
              oneDone.resolve();
              oneDone = Promise.withResolvers();
            });
          } else if (working > 0 && !stopping.aborted)
            await pTimeout(oneDone.promise, { milliseconds: freeLaneMs, fallback: () => {} });
          else return;
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
  deps: RunDependencies & { readonly findZones: ZoneFinder },
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
    const done = await runImport({ ...deps, refusesUnknownZones: attempts === maxAttempts }, job, stopping);
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
async function runImport(deps: RunDependencies & ApplyUnits, job: ImportRow, stopping: AbortSignal): Promise<boolean> {
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
  if (!(await applyUnits(deps, staged, { ms: turnMs, stopping }))) return false;
  await succeed(deps, job);
  return true;
}

/**
 * Refused rows are kept for the report. The marks of done units are deleted in the transaction that ends the import:
 * without them, a worker that goes on with it would apply units twice.
 */
async function succeed(deps: RunDependencies, { id }: ImportRow): Promise<void> {
  const { database } = deps;
  while ((await deleteSomeBatches(database.sql, id, batchesPerStatement)) > 0);
  await database.sqlTransaction(async (tx) => {
    await end(deps, tx, id, null);
    await deleteUnits(tx, id);
  });
}

/**
 * Ends the import before its rows are deleted: a running import without rows would look as if all of it were done. With
 * `unread`, it fails only if the rows are not staged yet. Otherwise another worker has staged them and deleted the file,
 * and this worker may have read only the beginning of it.
 */
async function fail(deps: RunDependencies, id: string, error: string, { unread = false } = {}): Promise<void> {
  const { database } = deps;
  await database.sqlTransaction(async (tx) => {
    if (unread && !(await lockUnstaged(tx, id))) throw new ConcurrentWorker();
    await end(deps, tx, id, error);
  });
  await deleteRows(database.sql, id);
}

/** Ends the import, with one audit record for all that the file has changed. */
async function end({ outbox, clock }: RunDependencies, tx: Sql, id: string, error: string | null): Promise<void> {
  const now = clock.now();
  const ended = await endImport(tx, id, error, now);
  if (!ended) return;
  const { account_id: accountId, created_by: by, dry_run, status, total, created, updated, unchanged, refused } = ended;
  const record = newAuditEvent('organization', {
    accountId,
    action: 'estate_import.ended',
    actor: { type: by.startsWith('key_') ? 'api_key' : 'person', id: by },
    subject: { type: 'job', id },
    details: { status, dry_run, total, created, updated, unchanged, refused },
    now,
  });
  await outbox.append(tx, record);
}
