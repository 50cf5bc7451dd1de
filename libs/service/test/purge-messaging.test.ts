import { createVerifier } from '@attribution/auth';
import { createInProcessTransport } from '@attribution/messaging';
import {
  captureLogs,
  createTestDatabase,
  eventually,
  openBareDatabase,
  problemBase,
  testInternal,
  testKeys,
} from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { openService, type Service } from '../src/index.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let pool: pg.Pool;
let service: Service | undefined;

beforeEach(async () => {
  database = await createTestDatabase('campaign');
  pool = new pg.Pool({ connectionString: database.url, max: 1 });
  await pool.query(`
    INSERT INTO inbox SELECT 'campaign', uuidv7(), now() - make_interval(days => n) FROM generate_series(28, 32) AS n;
    INSERT INTO projection_tombstones SELECT 'gone ' || n, now() - make_interval(days => n) FROM generate_series(28, 32) AS n`);
});
afterEach(async () => {
  await service?.drain(Date.now() + 2_000);
  await service?.close();
  await pool.end();
  await database.drop();
});

/** Starts a service, which runs its purges at once. */
function start(): void {
  service = openService(
    'campaign',
    {
      databaseUrl: database.url,
      transport: createInProcessTransport(),
      verifier: createVerifier(testKeys.public),
      internal: testInternal('campaign'),
      logger: captureLogs().logger,
      problemBase,
      checkAnswers: true,
    },
    openBareDatabase,
  ).assemble({ publishes: [], implementations: [] });
  service.start();
}

const count = async (table: string) => (await pool.query(`SELECT count(*)::int FROM ${table}`)).rows[0].count as number;

test('inbox rows and tombstones are purged after 30 days', async () => {
  start();
  await eventually(async () => expect([await count('inbox'), await count('projection_tombstones')]).toEqual([2, 2]));
});

test('a tombstone is kept while a dead letter might bring its row back', async () => {
  await pool.query(
    `INSERT INTO dead_letters (consumer, event_id, topic, envelope, attempts, error)
     VALUES ('campaign', uuidv7(), 't', '{}', 5, 'x')`,
  );
  start();
  await eventually(async () => expect(await count('inbox')).toBe(2));
  await service?.drain(Date.now() + 2_000); // Which waits for the job.
  expect(await count('projection_tombstones')).toBe(5);
});
