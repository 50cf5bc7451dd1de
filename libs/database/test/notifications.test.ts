import { randomUUID } from 'node:crypto';
import { eventually } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { type Listener, listenTo, notify } from '../src/index.ts';
import { createScratchDatabase } from './support.ts';

let database: Awaited<ReturnType<typeof createScratchDatabase>>;
let pool: pg.Pool;
let listener: Listener;
let heard: string[];
/** What was asked, only to see whether anybody listens, and heard. */
let answers: string[];
let errors: unknown[];
beforeEach(async () => {
  database = await createScratchDatabase();
  pool = new pg.Pool({ connectionString: database.url });
  pool.on('error', () => {});
  heard = [];
  answers = [];
  errors = [];
  listener = listenTo({
    url: database.url,
    channel: 'a channel',
    heard: (payload) => (payload.startsWith(asking) ? answers : heard).push(payload),
    onError: (error) => errors.push(error),
  });
  await listening();
});
afterEach(async () => {
  await listener.stop();
  await pool.end();
  await database.drop();
});

const asking = 'anybody?';
/** The connection may not be there yet; a question that is late says nothing of the next. */
const listening = () =>
  eventually(async () => {
    const question = `${asking} ${randomUUID()}`;
    await notify(pool, 'a channel', question);
    await eventually(() => expect(answers).toContain(question), 200);
  });

test('what is told on the channel is heard, and what is told on another is not', async () => {
  await notify(pool, 'another', 'no');
  await notify(pool, 'a channel', 'yes');
  await eventually(() => expect(heard).toEqual(['yes']));
  expect(errors).toEqual([]);
});

test('a connection that breaks is told of, and another is heard on', async () => {
  await pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()`,
  );
  await eventually(() => expect(errors).not.toEqual([]));
  await listening();
});

test('it stops at once, and leaves no connection', async () => {
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

test('a database that is away is asked again, until it stops', async () => {
  const url = new URL(database.url);
  url.pathname = '/nowhere_at_all';
  const failures: unknown[] = [];
  const lost = listenTo({ url: url.href, channel: 'x', heard: () => {}, onError: (error) => failures.push(error) });
  await eventually(() => expect(failures.length).toBeGreaterThan(1));
  await lost.stop();
});
