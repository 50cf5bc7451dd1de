import { captureLogs, createTestDatabase, eventually, testServers } from '@attribution/testing';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import pg from 'pg';
import { type DatabaseClock, followDatabaseClock } from '../src/database-clock.ts';

let clocks: DatabaseClock[];
beforeEach(() => {
  clocks = [];
});
afterEach(() => {
  for (const clock of clocks) clock.stop();
  jest.restoreAllMocks();
});

/** Sets this machine's clock from now on. */
const setMachine = (milliseconds: number) =>
  jest.spyOn(Date, 'now').mockImplementation(() => Math.floor(realNow() + milliseconds));
const realNow = () => performance.timeOrigin + performance.now();

async function follow(intervalMs?: number, url = testServers.postgresUrl()) {
  const logs = captureLogs();
  const clock = await followDatabaseClock({
    url,
    logger: logs.logger,
    ...(intervalMs !== undefined && { intervalMs }),
  });
  clocks.push(clock);
  return { clock, logs, error: () => Math.abs(clock.now().getTime() - realNow()) };
}

test.each([-300_000, -150_000, 150_000, 300_000])(
  'a process on a machine that is %d ms off has the database’s time, and logs the difference',
  async (milliseconds) => {
    setMachine(milliseconds);
    const { error, logs } = await follow();
    expect(Math.abs(Date.now() - realNow() - milliseconds)).toBeLessThan(5_000);
    expect(error()).toBeLessThan(1_000);
    expect(logs.text()).toContain('is not the database’s');
  },
);

test('setting the machine’s clock while the process runs does not move its time, and is logged once', async () => {
  const { error, logs } = await follow(20);
  expect(logs.text()).toBe('');
  setMachine(300_000);
  await eventually(() => expect(logs.text()).toContain('is not the database’s'));
  expect(error()).toBeLessThan(1_000);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(logs.text().match(/is not the database’s/g)).toHaveLength(1);
});

test('the time goes on while the database is unavailable', async () => {
  const { url, drop } = await createTestDatabase('organization');
  const { clock, error } = await follow(20, url);
  await drop();
  const before = clock.now().getTime();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(clock.now().getTime() - before).toBeGreaterThanOrEqual(290);
  expect(error()).toBeLessThan(1_000);
});

test('a reading leaves no connection behind', async () => {
  const { url, drop } = await createTestDatabase('organization');
  const { clock } = await follow(20, url);
  await new Promise((resolve) => setTimeout(resolve, 200));
  clock.stop();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await eventually(async () => {
    const sql = 'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
    expect((await client.query(sql)).rowCount).toBe(0);
  });
  await client.end();
  await drop();
});
