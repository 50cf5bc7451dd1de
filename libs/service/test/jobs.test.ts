import { randomBytes } from 'node:crypto';
import { captureLogs, eventually, testServers } from '@attribution/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { type Job, type RunningJobs, startJobs } from '../src/jobs.ts';

const hour = 60 * 60 * 1000;

let pool: pg.Pool;
beforeAll(() => {
  pool = new pg.Pool({ connectionString: testServers.postgresUrl(), max: 25 });
});
afterAll(() => pool.end());

/** Unique to the test, because tests share a database and a job's lock has its name. */
let name: string;
beforeEach(() => {
  name = `test ${randomBytes(6).toString('hex')}`;
});

const running: RunningJobs[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((jobs) => jobs.stop()));
});

function start(job: Omit<Job, 'name'>, logger = captureLogs().logger, retryMs?: number): RunningJobs {
  const jobs = startJobs([{ name, ...job }], pool, logger, undefined, retryMs);
  running.push(jobs);
  return jobs;
}

test('a job runs at once, and repeatedly', async () => {
  let runs = 0;
  start({ every: 1, run: async () => void runs++ });
  await eventually(() => expect(runs).toBeGreaterThan(3));
});

test('one of 20 replicas runs the job at a time, and each of them runs it eventually', async () => {
  let now = 0;
  let most = 0;
  const runsOf = new Map<number, number>();
  for (let replica = 0; replica < 20; replica++) {
    start({
      every: 1,
      run: async () => {
        most = Math.max(most, ++now);
        runsOf.set(replica, (runsOf.get(replica) ?? 0) + 1);
        await pool.query('SELECT 1');
        now--;
      },
    });
  }
  await eventually(() => expect(runsOf.size).toBe(20));
  expect(most).toBe(1);
});

test('a shared job runs in all replicas at the same time', async () => {
  let now = 0;
  const replicas = 3;
  const { promise: allRun, resolve } = Promise.withResolvers<void>();
  for (let replica = 0; replica < replicas; replica++)
    start({
      every: hour,
      shared: true,
      run: async () => {
        if (++now === replicas) resolve();
        await allRun;
      },
    });
  await allRun;
  expect(now).toBe(replicas);
});

test('twenty concurrent jobs leave connections for requests, and for each other', async () => {
  const small = new pg.Pool({ connectionString: testServers.postgresUrl(), max: 2, connectionTimeoutMillis: 1_000 });
  const { logger, text } = captureLogs();
  let runs = 0;
  const run = async () => {
    await small.query('SELECT pg_sleep(0.02)');
    runs++;
  };
  const jobs = startJobs(
    Array.from({ length: 20 }, (_, n) => ({ name: `${name} ${n}`, every: hour, run })),
    small,
    logger,
  );
  await eventually(() => expect(runs).toBe(20));
  await jobs.stop();
  expect(text()).toBe('');
  await small.query('SELECT 1');
  await small.end();
});

test('a job runs again after the connection of its lock was cut', async () => {
  const own = new pg.Pool({ connectionString: testServers.postgresUrl(), max: 2, application_name: name });
  own.on('error', () => {});
  own.on('connect', (client) => client.on('error', () => {})); // As the services' pools do.
  let runs = 0;
  const jobs = startJobs([{ name, every: 1, run: async () => void runs++ }], own, captureLogs().logger);
  await eventually(() => expect(runs).toBeGreaterThan(0));
  await pool.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [name]);
  const before = runs;
  await eventually(() => expect(runs).toBeGreaterThan(before + 3));
  await jobs.stop();
  await own.end();
});

test('a job does not wait for other jobs', async () => {
  const held = Promise.withResolvers<void>();
  let others = 0;
  const jobs = startJobs(
    [
      { name, every: hour, run: () => held.promise },
      { name: `${name} other`, every: 1, run: async () => void others++ },
    ],
    pool,
    captureLogs().logger,
  );
  running.push(jobs);
  await eventually(() => expect(others).toBeGreaterThan(3));
  held.resolve();
});

test('a job that is woken runs now, not at its next scheduled time', async () => {
  let runs = 0;
  const jobs = start({ every: hour, run: async () => void runs++ });
  await eventually(() => expect(runs).toBe(1));
  for (let wanted = 2; wanted < 5; wanted++) {
    jobs.wake(name);
    await eventually(() => expect(runs).toBe(wanted));
  }
});

test('a job that is woken while it runs, however often, runs once more', async () => {
  let runs = 0;
  let now = 0;
  const first = Promise.withResolvers<void>();
  const jobs = start({
    every: hour,
    run: async () => {
      expect(++now).toBe(1);
      if (++runs === 1) await first.promise;
      now--;
    },
  });
  await eventually(() => expect(runs).toBe(1));
  for (let n = 0; n < 5; n++) jobs.wake(name);
  first.resolve();
  await eventually(() => expect(runs).toBe(2));
  await jobs.stop();
  expect(runs).toBe(2);
});

test('waking an unknown job does nothing', async () => {
  let runs = 0;
  const jobs = start({ every: hour, run: async () => void runs++ });
  await eventually(() => expect(runs).toBe(1));
  jobs.wake('another');
  await jobs.stop();
  expect(runs).toBe(1);
});

test('a failed job is logged with its name, releases its lock, and runs again', async () => {
  const { logger, text } = captureLogs();
  let runs = 0;
  start(
    {
      every: 1,
      run: async () => {
        if (++runs < 3) throw new Error('not this time');
      },
    },
    logger,
  );
  await eventually(() => expect(runs).toBeGreaterThan(3));
  const line = JSON.parse(text().split('\n')[0] ?? '{}') as object;
  expect(line).toMatchObject({ level: 40, job: name, err: { message: 'not this time' } });
});

test('an hourly job that fails is retried sooner, and waits for an hour once it has succeeded', async () => {
  let runs = 0;
  const run = async () => {
    if (++runs < 3) throw new Error('not this time');
  };
  start({ every: hour, run }, undefined, 10);
  await eventually(() => expect(runs).toBe(3));
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(runs).toBe(3);
});

test('stopping waits for the current run, and no run follows', async () => {
  const held = Promise.withResolvers<void>();
  let runs = 0;
  let ended = false;
  const jobs = start({
    every: 1,
    run: async () => {
      runs++;
      await held.promise;
      ended = true;
    },
  });
  await eventually(() => expect(runs).toBe(1));
  const stopped = jobs.stop().then(() => ended);
  jobs.wake(name);
  held.resolve();
  expect(await stopped).toBe(true);
  expect(runs).toBe(1);
});

test('a long run is signalled to end when its process stops', async () => {
  let runs = 0;
  const jobs = start({
    every: hour,
    run: (stopping) => {
      runs++;
      return new Promise((resolve) => stopping.addEventListener('abort', () => resolve()));
    },
  });
  await eventually(() => expect(runs).toBe(1));
  await jobs.stop();
});

test('stopping does not wait for the next run', async () => {
  let runs = 0;
  const jobs = start({ every: hour, run: async () => void runs++ });
  await eventually(() => expect(runs).toBe(1));
  await jobs.stop();
});
