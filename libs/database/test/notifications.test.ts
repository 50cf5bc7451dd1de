import { randomUUID } from 'node:crypto';
import { eventually } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { type Listener, listenTo, notify } from '../src/index.ts';
import { createScratchDatabase } from './support.ts';

let database: Awaited<ReturnType<typeof createScratchDatabase>>;
let pool: pg.Pool;
let listener: Listener;
let received: string[];
/** Received payloads that only probe whether the listener is connected. */
let probes: string[];
let errors: unknown[];
beforeEach(async () => {
  database = await createScratchDatabase();
  pool = new pg.Pool({ connectionString: database.url });
  pool.on('error', () => {});
  received = [];
  probes = [];
  errors = [];
  listener = listenTo({
    url: database.url,
    channel: 'a channel',
    onNotification: (payload) => (payload.startsWith(probe) ? probes : received).push(payload),
    onError: (error) => errors.push(error),
  });
  await listening();
});
afterEach(async () => {
  await listener.stop();
  await pool.end();
  await database.drop();
});

const probe = 'probe';
/** Resolves when the listener is connected. Each attempt has its own payload, so that a late one is not taken for the next. */
const listening = () =>
  eventually(async () => {
    const payload = `${probe} ${randomUUID()}`;
    await notify(pool, 'a channel', payload);
    await eventually(() => expect(probes).toContain(payload), 200);
  });

test('notifications of the channel are received, and those of another are not', async () => {
  await notify(pool, 'another', 'no');
  await notify(pool, 'a channel', 'yes');
  await eventually(() => expect(received).toEqual(['yes']));
  expect(errors).toEqual([]);
});

test('a broken connection is reported and replaced', async () => {
  await pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()`,
  );
  await eventually(() => expect(errors).not.toEqual([]));
  await listening();
});

test('stopping is quick, and leaves no connection', async () => {
  const began = Date.now();
  await listener.stop();
  await listener.stop();
  expect(Date.now() - began).toBeLessThan(4_500);
  await eventually(async () => {
    const { rows } = await pool.query(
      `SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()`,
    );
    expect(rows).toEqual([]);
  });
});

test('an unavailable database is tried again until the listener stops', async () => {
  const url = new URL(database.url);
  url.pathname = '/nowhere_at_all';
  const failures: unknown[] = [];
  const lost = listenTo({
    url: url.href,
    channel: 'x',
    onNotification: () => {},
    onError: (error) => failures.push(error),
  });
  await eventually(() => expect(failures.length).toBeGreaterThan(1));
  await lost.stop();
});
