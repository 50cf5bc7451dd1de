import { setTimeout as sleep } from 'node:timers/promises';
import { createLockKeeper } from '@attribution/database';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { type JobMetrics, noJobMetrics } from './job-metrics.ts';

/** Work that is repeated, by one replica at a time unless it is `shared`. */
export interface Job {
  readonly name: string;
  /** Milliseconds from the end of one run to the next. */
  readonly every: number;
  /** The role that runs it where `api` and `worker` are separate processes. Default: `worker`. */
  readonly runsIn?: 'api' | 'worker';
  /** All replicas run it at the same time: it divides its work among them itself. */
  readonly shared?: true;
  /** The signal aborts when the process stops; a long run should end then. */
  readonly run: (stopping: AbortSignal) => Promise<void>;
}

export interface RunningJobs {
  /** Runs a job now rather than at its next scheduled time. */
  wake(name: string): void;
  stop(): Promise<void>;
}

/**
 * Runs jobs, each under an advisory lock of its name unless it is shared. A replica that finds the lock taken skips that
 * run. A job that failed runs again after `retryMs`, if that is sooner than its next scheduled time.
 */
export function startJobs(
  jobs: readonly Job[],
  pool: Pool,
  logger: Logger,
  metrics: JobMetrics = noJobMetrics,
  retryMs = 60_000,
): RunningJobs {
  const pauses = new Map<string, AbortController>();
  const woken = new Set<string>();
  const locks = createLockKeeper(pool);
  const stopping = new AbortController();
  const { signal } = stopping;

  metrics.expect(jobs);

  async function run(job: Job): Promise<void> {
    const began = performance.now();
    let failed = true;
    try {
      await job.run(signal);
      failed = false;
    } finally {
      metrics.ran(job.name, (performance.now() - began) / 1000, failed);
    }
  }

  async function loop(job: Job): Promise<void> {
    while (!signal.aborted) {
      woken.delete(job.name);
      let wait = job.every;
      const turn = job.shared ? run(job) : locks.withLock(`job ${job.name}`, () => run(job));
      await turn.catch((error: unknown) => {
        wait = Math.min(job.every, retryMs);
        logger.warn({ err: error, job: job.name, wait }, 'A job failed and will be tried again');
      });
      if (signal.aborted || woken.has(job.name)) continue;
      const pause = new AbortController();
      pauses.set(job.name, pause);
      await sleep(wait, undefined, { signal: pause.signal }).catch(() => {});
    }
  }

  const loops = jobs.map(loop);
  return {
    wake(name) {
      woken.add(name);
      pauses.get(name)?.abort();
    },
    async stop() {
      stopping.abort();
      for (const pause of pauses.values()) pause.abort();
      await Promise.all(loops);
    },
  };
}
