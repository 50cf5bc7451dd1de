import { Problem } from '@attribution/contracts';
import type { Job } from '@attribution/service';
import type { ScoringDependencies } from './dependencies.ts';
import { changeRun, findLost, lockRun, type RunRow } from './run.store.ts';

/** A request that still lives answers long before. */
const lostAfterMs = 60_000;

/** The job that ends runs whose request died before they had a job, and releases what they may hold. */
export function finishLostRuns({ database, clock, tokens }: Omit<ScoringDependencies, 'jobs'>): Job {
  /** From now on the request cannot go on with it. */
  const giveUp = (id: string) =>
    database.sqlTransaction(async (tx) => {
      const run = await lockRun(tx, id);
      if (run?.state === 'holding') await changeRun(tx, id, { state: 'failed' }, clock.now());
      return run?.job_id === null ? run : undefined;
    });

  /** Whether there is a hold is not known: asking for it again answers the first one, which then is released. */
  async function release(run: RunRow): Promise<void> {
    if (run.amount) {
      const holdId = await tokens.hold(run, run.amount).catch((error: unknown) => {
        if (error instanceof Problem && error.kind === 'insufficient-balance') return undefined; // There is none.
        throw error;
      });
      if (holdId !== undefined) await tokens.release(holdId);
    }
    await changeRun(database.sql, run.id, { amount: 0 }, clock.now());
  }

  return {
    name: 'finish-lost-scoring',
    every: 10_000,
    async run(stopping) {
      for (const id of await findLost(database.sql, new Date(clock.now().getTime() - lostAfterMs))) {
        if (stopping.aborted) return;
        const run = await giveUp(id);
        if (run) await release(run);
      }
    },
  };
}
