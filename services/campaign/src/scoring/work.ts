import { scoreCompleted, scoreFailed } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { newEvent } from '@attribution/messaging';
import { failJob, type JobTry, type JobWork, succeedJob } from '../jobs/index.ts';
import type { ScoringDependencies } from './dependencies.ts';
import { changeRun, findRun, lockRun, type RunRow } from './run.store.ts';
import { insertScores } from './score.store.ts';

interface ScoringData {
  readonly run_id: string;
}

/** Runs that a worker does at the same time: each mostly waits for others. */
const atATime = 2;

/**
 * The work of a run: score, spend the tokens, show the scores. Each step is written before the next, and each can be
 * repeated, so that a try goes on where the one before it died.
 */
export function scoringWork(deps: Omit<ScoringDependencies, 'jobs'>): JobWork<ScoringData> {
  const { database, outbox, clock, scorer, tokens } = deps;

  const contextOf = ({ account_id }: RunRow) => ({ accountId: account_id, occurredAt: clock.now() });
  const dataOf = (run: RunRow) => ({ campaign_id: run.campaign_id, job_id: run.job_id ?? '', hold_id: run.hold_id });

  /** Ends a run that has not ended, once. */
  const end = (id: string, write: (tx: Sql, run: RunRow) => Promise<void>) =>
    database.sqlTransaction(async (tx) => {
      const run = await lockRun(tx, id);
      if (run && (run.state === 'queued' || run.state === 'scored')) await write(tx, run);
    });

  const complete = (id: string) =>
    end(id, async (tx, run) => {
      if (run.result === null) throw new Error('The tokens of a run are spent after it has scores');
      const now = clock.now();
      await insertScores(tx, run, run.result, scorer, now);
      await changeRun(tx, id, { state: 'done' }, now);
      await succeedJob(tx, run.job_id ?? '', now);
      await outbox.append(tx, newEvent(scoreCompleted, dataOf(run), contextOf(run)));
    });

  const fail = (id: string, code: string, detail: string) =>
    end(id, async (tx, run) => {
      await changeRun(tx, id, { state: 'failed' }, clock.now());
      await failJob(tx, run.job_id ?? '', { code, detail }, clock.now());
      await outbox.append(tx, newEvent(scoreFailed, dataOf(run), contextOf(run)));
    });

  async function run({ data: { run_id }, signal, progress }: JobTry<ScoringData>): Promise<void> {
    const run = await findRun(database.sql, run_id);
    if (!run || run.state === 'done' || run.state === 'failed') return;
    if (run.state === 'queued') {
      const result = await scorer.score(run.facts, signal);
      await changeRun(database.sql, run_id, { state: 'scored', result }, clock.now());
    }
    await progress(60);
    if (run.hold_id === null || (await tokens.capture(run.hold_id, run.amount ?? 0))) await complete(run_id);
    else await fail(run_id, 'hold_lost', 'The tokens that were held for it are no longer held.');
  }

  return {
    kind: 'campaign_scoring',
    atATime,
    run,
    async giveUp(_id, { run_id }) {
      const run = await findRun(database.sql, run_id);
      if (!run || run.state === 'done' || run.state === 'failed') return;
      // A try may have spent the tokens and died: then its scores are there, and are shown.
      const free = run.hold_id === null ? run.state === 'queued' : await tokens.release(run.hold_id);
      if (free || run.result === null)
        await fail(run_id, 'not_scored', 'The ads could not be scored. It costs nothing.');
      else await complete(run_id);
    },
  };
}
