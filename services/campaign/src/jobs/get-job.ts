import type { Principal } from '@attribution/auth';
import { getJob, Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { implement } from '@attribution/service';
import type { CampaignDatabase } from '../store.ts';
import { findJob } from './job.store.ts';
import { type JobKind, viewJob } from './job.ts';

/** Whether the caller sees what a job is about, by the kind of the job. */
export type SeesSubject = Readonly<
  Record<JobKind, (tx: Sql, caller: Principal, subjectId: string) => Promise<boolean>>
>;

export const getJobEndpoint = ({ sql }: CampaignDatabase, sees: SeesSubject) =>
  implement(getJob, async ({ params, caller }) => {
    const job = await findJob(sql, caller.accountId, params.id);
    if (!job || !(await sees[job.kind as JobKind](sql, caller, job.subject_id))) throw Problem.notFound();
    return viewJob(job);
  });
