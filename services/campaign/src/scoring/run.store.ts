import type { Sql } from '@attribution/database';
import type { Selectable } from 'kysely';
import type { ScoringRun } from '../generated/kysely/types.ts';
import { db } from '../store.ts';
import type { ScoringFacts } from './facts.ts';
import type { ScoredAd } from './scorer.ts';

export type RunRow = Selectable<ScoringRun>;

/** Waits for other runs of the campaign to end or not; false if one is active. */
export async function insertRun(
  tx: Sql,
  run: Pick<RunRow, 'id' | 'account_id' | 'campaign_id' | 'signature' | 'created_by' | 'created_at' | 'updated_at'>,
  facts: ScoringFacts,
): Promise<boolean> {
  const inserted = await db(tx)
    .insertInto('scoring_runs')
    .values({ ...run, state: 'holding', facts: JSON.stringify(facts) as never })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return inserted !== undefined;
}

export const findRun = (tx: Sql, id: string): Promise<RunRow | undefined> =>
  db(tx).selectFrom('scoring_runs').where('id', '=', id).selectAll().executeTakeFirst();

export const lockRun = (tx: Sql, id: string): Promise<RunRow | undefined> =>
  db(tx).selectFrom('scoring_runs').where('id', '=', id).selectAll().forUpdate().executeTakeFirst();

type RunChange = Partial<Pick<RunRow, 'state' | 'amount' | 'hold_id' | 'job_id'>> & {
  readonly result?: readonly ScoredAd[];
};

export async function changeRun(tx: Sql, id: string, { result, ...change }: RunChange, now: Date): Promise<void> {
  const json = result && { result: JSON.stringify(result) as never };
  await db(tx)
    .updateTable('scoring_runs')
    .set({ ...change, ...json, updated_at: now })
    .where('id', '=', id)
    .execute();
}

/** Deletes a run that holds nothing. */
export async function deleteRun(tx: Sql, id: string): Promise<void> {
  await db(tx).deleteFrom('scoring_runs').where('id', '=', id).where('state', '=', 'holding').execute();
}

/** Runs whose request has died before it had a job; also those that were given up, but may still hold tokens. */
export async function findLost(tx: Sql, before: Date): Promise<string[]> {
  const lost = db(tx)
    .selectFrom('scoring_runs')
    .where('job_id', 'is', null)
    .where((run) =>
      run.or([
        run.and([run('state', '=', 'holding'), run('updated_at', '<', before)]),
        run.and([run('state', '=', 'failed'), run('amount', '>', 0)]),
      ]),
    );
  return (await lost.select('id').limit(100).execute()).map(({ id }) => id);
}
