import { Problem } from '@attribution/contracts';
import type { createLogger } from '@attribution/service';
import { type ApplyParts, applyUnits } from './apply-units.ts';
import { AnotherAtWork, endImport, findImport, findWaiting, type ImportRow, startImport } from './import.store.ts';
import { deleteStaged } from './lot.store.ts';
import { deleteRefused } from './refused-row.store.ts';
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
          await end(parts, job, 'The import could not be done. What it had set up until then stays.');
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
      return end(parts, job, error.detail ?? 'The file cannot be read.');
    }
  }
  const staged = await findImport(sql, job.account_id, undefined, job.id);
  if (staged && (await applyUnits(parts, staged, stopping))) await end(parts, job, null);
}

/** What was refused stays, for the report; of an import that failed nothing does. */
async function end({ database, clock }: RunParts, { id }: ImportRow, error: string | null): Promise<void> {
  while ((await deleteStaged(database.sql, id, atOnce)) > 0);
  if (error !== null) while ((await deleteRefused(database.sql, id, atOnce)) > 0);
  await database.sqlTransaction((tx) => endImport(tx, id, error, clock.now()));
}
