import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

interface ScheduledJob {
  readonly name: string;
  /** Milliseconds between two runs. */
  readonly every: number;
}

export interface JobMetrics {
  /** Registers jobs that this process, or one of its replicas, will run. */
  expect(jobs: readonly ScheduledJob[]): void;
  /** Records a run of a job in this process. */
  ran(job: string, seconds: number, failed: boolean): void;
}

export const noJobMetrics: JobMetrics = { expect() {}, ran() {} };

/** Only the replica that runs a job counts the run, so a job's last success is the newest among all replicas. */
export function observeJobs(registry: Registry, service: string): JobMetrics {
  const registers = [registry];
  // The label is not `job`: Prometheus uses that name for the scrape target, and would rename ours.
  const labelNames = ['service', 'job_name'] as const;
  const every = new Gauge({ name: 'job_every_seconds', help: 'From one run to the next', labelNames, registers });
  const runs = new Counter({
    name: 'job_runs_total',
    help: 'Turns of a job that this process had',
    labelNames: [...labelNames, 'outcome'],
    registers,
  });
  const duration = new Histogram({
    name: 'job_seconds',
    help: 'How long a turn took',
    labelNames,
    buckets: [0.01, 0.1, 1, 10, 60, 600],
    registers,
  });
  const success = new Gauge({
    name: 'job_last_success_timestamp_seconds',
    help: 'When a turn last succeeded here',
    labelNames,
    registers,
  });
  return {
    expect(jobs) {
      for (const { name: job_name, every: ms } of jobs) {
        every.set({ service, job_name }, ms / 1000);
        for (const outcome of ['done', 'failed']) runs.inc({ service, job_name, outcome }, 0); // At 0 from the start, so that the first failure is an increase.
      }
    },
    ran(job_name, seconds, failed) {
      runs.inc({ service, job_name, outcome: failed ? 'failed' : 'done' });
      duration.observe({ service, job_name }, seconds);
      if (!failed) success.setToCurrentTime({ service, job_name });
    },
  };
}
