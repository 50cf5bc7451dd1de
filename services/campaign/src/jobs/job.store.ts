import type { Sql, SqlTransaction } from '@attribution/database';
import { type Selectable, sql } from 'kysely';
import type { Job } from '../generated/kysely/types.ts';
import { db } from '../store.ts';

export type JobRow = Selectable<Job>;

export async function insertJob(
  tx: SqlTransaction,
  job: Pick<JobRow, 'id' | 'account_id' | 'kind' | 'subject_id' | 'hold_id' | 'created_by' | 'created_at'>,
): Promise<void> {
  await db(tx).insertInto('jobs').values(job).execute();
}

export async function findJob(tx: Sql, accountId: string, id: string): Promise<JobRow | undefined> {
  const job = db(tx).selectFrom('jobs').where('id', '=', id).where('account_id', '=', accountId);
  return job.selectAll().executeTakeFirst();
}

/** A try begins. False if the job has ended already. */
export async function beginTry(tx: Sql, id: string, now: Date): Promise<boolean> {
  const begun = await db(tx)
    .updateTable('jobs')
    .set((job) => ({
      status: 'running' as const,
      attempts: job('attempts', '+', 1),
      started_at: sql<Date>`coalesce(started_at, ${now})`,
    }))
    .where('id', '=', id)
    .where('finished_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return begun !== undefined;
}

/** It never goes back, also where a job is tried again. */
export async function noteProgress(tx: Sql, id: string, percent: number): Promise<void> {
  const running = db(tx)
    .updateTable('jobs')
    .set({ progress: Math.min(99, percent) });
  await running.where('id', '=', id).where('status', '=', 'running').where('progress', '<', percent).execute();
}

export async function succeedJob(tx: SqlTransaction, id: string, now: Date): Promise<void> {
  const ended = { status: 'succeeded' as const, progress: 100, finished_at: now };
  await db(tx).updateTable('jobs').set(ended).where('id', '=', id).where('finished_at', 'is', null).execute();
}

export async function failJob(
  tx: SqlTransaction,
  id: string,
  error: { readonly code: string; readonly detail: string },
  now: Date,
): Promise<void> {
  const ended = { status: 'failed' as const, error: JSON.stringify(error) as never, finished_at: now };
  await db(tx).updateTable('jobs').set(ended).where('id', '=', id).where('finished_at', 'is', null).execute();
}
