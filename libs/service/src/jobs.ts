import { setTimeout as sleep } from 'node:timers/promises';
import { createLockKeeper } from '@attribution/database';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { type JobMetrics, noJobMetrics } from './job-metrics.ts';

/** Work that is done again and again, by one replica at a time. */
export interface Job {
  readonly name: string;
  /** Milliseconds from the end of one run to the next. */
  readonly every: number;
  /** Where workers and those that serve are processes apart: who runs it. Default: workers. */
  readonly runsIn?: 'api' | 'worker';
  /** Aborted when the process is to stop: work that lasts ends then. */
  readonly run: (stopping: AbortSignal) => Promise<void>;
}

export interface RunningJobs {
  /** Runs a job now rather than at its next turn. */
  wake(name: string): void;
  stop(): Promise<void>;
}

/**
 * Runs jobs, each under an advisory lock of its name: replicas that find it taken leave that turn out. One that failed
 * has its next turn after `failedWait` milliseconds, if that is sooner.
 */
export function startJobs(
  jobs: readonly Job[],
  pool: Pool,
  logger: Logger,
  metrics: JobMetrics = noJobMetrics,
  failedWait = 60_000,
): RunningJobs {
  const naps = new Map<string, AbortController>();
  const awake = new Set<string>();
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
      awake.delete(job.name);
      let wait = job.every;
      await locks
        .withLock(`job ${job.name}`, () => run(job))
        .catch((error: unknown) => {
          wait = Math.min(job.every, failedWait);
          logger.warn({ err: error, job: job.name, wait }, 'A job failed and will be tried again');
        });
      if (signal.aborted || awake.has(job.name)) continue;
      const nap = new AbortController();
      naps.set(job.name, nap);
      await sleep(wait, undefined, { signal: nap.signal }).catch(() => {});
    }
  }

  const loops = jobs.map(loop);
  return {
    wake(name) {
      awake.add(name);
      naps.get(name)?.abort();
    },
    async stop() {
      stopping.abort();
      for (const nap of naps.values()) nap.abort();
      await Promise.all(loops);
    },
  };
}
