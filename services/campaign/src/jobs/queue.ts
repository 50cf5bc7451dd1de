import { setTimeout as sleep } from 'node:timers/promises';
import { idPrefixes } from '@attribution/contracts';
import { afterCommit, type SqlTransaction } from '@attribution/database';
import { newId } from '@attribution/ids';
import type { Clock, RunningRole } from '@attribution/runtime';
import { PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import type { CampaignDatabase } from '../store.ts';
import { beginTry, insertJob, noteProgress } from './job.store.ts';
import { type JobKind, jobKinds } from './job.ts';

/** One try of a job. */
export interface JobTry<Data> {
  readonly id: string;
  readonly data: Data;
  /** Aborts when the process stops, when the time of the job is over, and when another replica has taken the job. */
  readonly signal: AbortSignal;
  /** Says how far it is, in percent. */
  progress(percent: number): Promise<void>;
}

/** How a kind of job is done. */
export interface JobWork<Data> {
  readonly kind: JobKind;
  /** How many a worker does at the same time. */
  readonly atATime: number;
  /**
   * Does it, and writes its end in the transaction of its effect (`succeedJob`, `failJob`). It throws if it has not ended:
   * then it is tried again. A try may find what an earlier one, which was killed, has done.
   */
  run(attempt: JobTry<Data>): Promise<void>;
  /** All tries have failed. It ends the job as failed, in the transaction of what follows from that. */
  giveUp(id: string, data: Data): Promise<void>;
}

interface NewJob {
  readonly kind: JobKind;
  readonly account_id: string;
  readonly subject_id: string;
  readonly created_by: string;
  readonly hold_id?: string | null;
  /** What `run` is given; JSON. */
  readonly data: object;
}

/** Jobs that clients follow, over pg-boss: each is tried three times, also if its process is killed. */
export interface JobQueue {
  /** Creates a job in the transaction of what it is about, and returns its id. */
  begin(tx: SqlTransaction, job: NewJob): Promise<string>;
  start(): void;
  /** Ends the tries that are in progress; they are made again elsewhere. */
  stop(deadline: number): Promise<void>;
}

/** A process that says nothing for this long is dead, and its jobs are tried elsewhere. */
const heartbeatSeconds = 10;
/** Contract: processing may take ten minutes. A try has a little more, to say that it took too long. */
const expireInSeconds = 11 * 60;
const tries = { retryLimit: 2, retryDelay: 2, retryBackoff: true };
const schema = 'pgboss';

interface QueueOptions {
  readonly database: CampaignDatabase;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly role: RunningRole;
  readonly works: () => readonly JobWork<never>[];
}

const givenUp = (kind: JobKind) => `${kind}_given_up`;

export function createJobQueue({ database, clock, logger, role, works }: QueueOptions): JobQueue {
  const stopping = new AbortController();
  const workers = new Map<string, string>();
  const working = role !== 'api';
  const boss = new PgBoss({
    db: { executeSql: (text, values) => database.pool.query(text, values as unknown[]) },
    ...{ schema, migrate: false, createSchema: false, schedule: false, registerInstance: false, reindex: false },
    ...{ supervise: working, superviseIntervalSeconds: 2, monitorIntervalSeconds: 2, monitorVacuum: false },
  });
  boss.on('error', (err: unknown) => logger.warn({ err }, 'The job queue has a fault'));

  async function open(): Promise<void> {
    await boss.start();
    for (const kind of jobKinds) {
      await boss.createQueue(givenUp(kind), { retryLimit: 1_000, retryDelay: 5 });
      const options = { ...tries, heartbeatSeconds, expireInSeconds, deadLetter: givenUp(kind) };
      await boss.createQueue(kind, options);
    }
    if (!working) return;
    for (const work of works()) await takeOn(work as unknown as JobWork<object>);
  }

  async function takeOn({ kind, atATime, run, giveUp }: JobWork<object>): Promise<void> {
    const often = { pollingIntervalSeconds: 1, batchSize: 1 };
    const worker = await boss.work<Sent>(kind, { ...often, localConcurrency: atATime }, async ([job]) => {
      if (!job) return;
      const { id, data } = job.data;
      if (!(await beginTry(database.sql, id, clock.now()))) return;
      const progress = (percent: number) => noteProgress(database.sql, id, percent);
      const signal = AbortSignal.any([job.signal, stopping.signal]);
      await run({ id, data, signal, progress }).catch((err: unknown) => {
        logger.warn({ err, job: id, kind }, 'A try of a job failed');
        throw err;
      });
    });
    workers.set(kind, worker);
    await boss.work<Sent>(givenUp(kind), often, async ([job]) => {
      if (job) await giveUp(job.data.id, job.data.data);
    });
  }

  /** Until the database answers: a process starts without it too. */
  const opened = Promise.withResolvers<void>();
  async function openAgain(): Promise<void> {
    for (let wait = 250; !stopping.signal.aborted; wait = Math.min(wait * 2, 5_000)) {
      try {
        await open();
        return opened.resolve();
      } catch (err) {
        if (stopping.signal.aborted) return;
        logger.warn({ err }, 'The job queue cannot be opened yet');
        await sleep(wait, undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
  }

  return {
    async begin(tx, { kind, account_id, subject_id, created_by, hold_id = null, data }) {
      await opened.promise;
      const id = newId('job');
      const sent: Sent = { id, data };
      await insertJob(tx, { id, account_id, kind, subject_id, hold_id, created_by, created_at: clock.now() });
      const executeSql = async (text: string, values: unknown[] = []) => ({
        rows: await tx.$queryRawUnsafe<unknown[]>(text, ...values),
      });
      await boss.send(kind, sent, { id: id.slice(idPrefixes.job.length + 1), db: { executeSql } });
      const worker = workers.get(kind);
      if (worker !== undefined) afterCommit(tx, () => boss.notifyWorker(worker));
      return id;
    },
    start() {
      void openAgain();
    },
    async stop(deadline) {
      stopping.abort();
      const timeout = Math.max(1_000, deadline - Date.now());
      await boss.stop({ close: false, graceful: true, timeout });
    },
  };
}

interface Sent {
  readonly id: string;
  readonly data: object;
}
