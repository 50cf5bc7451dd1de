import { Problem } from '@attribution/contracts';
import type { createLogger } from '@attribution/runtime';
import { type ApplyParts, applyUnits } from './apply-units.ts';
import { forgetRows } from './forget-imports.ts';
import {
  AnotherAtWork,
  endImport,
  findImport,
  findWaiting,
  type ImportRow,
  lockUnstaged,
  startImport,
} from './import.store.ts';
import { deleteSomeLots, deleteUnits } from './lot.store.ts';
import { stage } from './stage.ts';

export const importJob = 'run-estate-imports';

interface RunParts extends ApplyParts {
  readonly logger: ReturnType<typeof createLogger>;
}

/** How often a fault of ours is tried again. */
const tries = 3;
const atOnce = 5_000;

/** Does imports, one after the other, each from where it was left. */
export function runImports(parts: RunParts) {
  const failures = new Map<string, number>();
  const { sql } = parts.database;
  return {
    name: importJob,
    every: 5_000,
    async run(stopping: AbortSignal) {
      for (let job = await findWaiting(sql); job && !stopping.aborted; job = await findWaiting(sql)) {
        try {
          await runImport(parts, job, stopping);
          failures.delete(job.id);
        } catch (error) {
          if (error instanceof AnotherAtWork) throw error;
          await parts.database.ping(); // Without a database nothing can be said of the import.
          const failed = (failures.get(job.id) ?? 0) + 1;
          failures.set(job.id, failed);
          parts.logger.warn({ err: error, import: job.id, failed }, 'An import of an estate failed');
          if (failed < tries) throw error;
          await fail(parts, job.id, 'The import could not be done. What it had set up until then stays.');
        }
      }
    },
  };
}

async function runImport(parts: RunParts, job: ImportRow, stopping: AbortSignal): Promise<void> {
  const { sql } = parts.database;
  await startImport(sql, job.id, parts.clock.now());
  if (!job.staged_at) {
    try {
      if (!(await stage(parts, job, stopping))) return;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return fail(parts, job.id, error.detail ?? 'The file cannot be read.', { unread: true });
    }
  }
  const staged = await findImport(sql, job.account_id, undefined, job.id);
  if (staged && (await applyUnits(parts, staged, stopping))) await succeed(parts, job);
}

/** What was refused stays, for the report. As long as it is not told to be over, it must be known what is done. */
async function succeed({ database, clock }: RunParts, { id }: ImportRow): Promise<void> {
  while ((await deleteSomeLots(database.sql, id, atOnce)) > 0);
  await database.sqlTransaction(async (tx) => {
    await endImport(tx, id, null, clock.now());
    await deleteUnits(tx, id);
  });
}

/**
 * Told before anything is forgotten: without its rows it would look as if all of it were done. `unread`: only while
 * nobody else has read the file, which is gone then, and may have seemed to end too early.
 */
async function fail({ database, clock }: RunParts, id: string, error: string, { unread = false } = {}): Promise<void> {
  await database.sqlTransaction(async (tx) => {
    if (unread && !(await lockUnstaged(tx, id))) throw new AnotherAtWork();
    await endImport(tx, id, error, clock.now());
  });
  await forgetRows(database.sql, id);
}
