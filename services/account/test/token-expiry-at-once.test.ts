import { newId } from '@attribution/ids';
import { createOutbox } from '@attribution/messaging';
import { createTestClock, createTestDatabase, type TestDatabase } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { expireGrants, expireHolds, postGrant } from '../src/ledger/index.ts';
import { type AccountDatabase, openAccountDatabase } from '../src/store.ts';
import { atOnce } from './support.ts';

let own: TestDatabase;
let database: AccountDatabase;
let accountId: string;
const clock = createTestClock();
const outbox = createOutbox(() => {});

beforeAll(async () => {
  own = await createTestDatabase('account');
  database = openAccountDatabase({ url: own.url, poolSize: 20 });
});
beforeEach(async () => {
  accountId = newId('account');
  await database.pool.query("INSERT INTO accounts VALUES ($1, 'Ada', 'network', 'active', false, now(), now())", [
    accountId,
  ]);
  await database.pool.query('INSERT INTO balances (account_id) VALUES ($1)', [accountId]);
  for (let n = 0; n < 10; n++) await grant(n);
});
afterAll(async () => {
  await database.close();
  await own.drop();
});

const soon = () => new Date(clock.now().getTime() + 60_000);

const grant = (n: number) =>
  database.sqlTransaction((tx) =>
    postGrant(tx, {
      accountId,
      kind: 'grant',
      amount: 10,
      description: 'Test',
      idempotencyKey: `test ${n}`,
      priority: 10,
      expiresAt: soon(),
      now: clock.now(),
    }),
  );

const hold = (n: number) =>
  database.pool.query(
    `INSERT INTO token_holds (id, account_id, amount, description, idempotency_key, expires_at, created_at)
     VALUES ($1, $2, 5, 'Test', $3, $4, now())`,
    [newId('token_hold'), accountId, `test ${n}`, soon()],
  );

async function expiryEvents(): Promise<unknown[]> {
  const { rows } = await database.pool.query("SELECT data->'of' AS of FROM outbox WHERE account_id = $1", [accountId]);
  return rows;
}
const balance = async () =>
  (await database.pool.query('SELECT posted, held FROM balances WHERE account_id = $1', [accountId])).rows[0] as object;

test('20 concurrent runs of the job over the same holds expire each once', async () => {
  for (let n = 0; n < 10; n++) await hold(n);
  clock.advance({ minutes: 2 });
  await atOnce(() => expireHolds({ database, outbox, clock }));
  expect(await balance()).toEqual({ posted: '100', held: '0' });
  expect(new Set((await expiryEvents()).map((one) => JSON.stringify(one))).size).toBe(10);
  expect(await expiryEvents()).toHaveLength(10);
});

test('20 concurrent runs of the job over the same grants expire each once', async () => {
  clock.advance({ minutes: 2 });
  await atOnce(() => expireGrants({ database, outbox, clock }));
  expect(await balance()).toEqual({ posted: '0', held: '0' });
  const { rows } = await database.pool.query(
    "SELECT seq::int, amount::int FROM ledger_entries WHERE account_id = $1 AND kind = 'expiry' ORDER BY seq",
    [accountId],
  );
  expect(rows).toEqual(Array.from({ length: 10 }, (_, n) => ({ seq: 11 + n, amount: -10 })));
  expect(await expiryEvents()).toHaveLength(10);
});

test('expired grants of more accounts than fit into one batch all expire in one run, one entry each', async () => {
  const many = "(SELECT id FROM accounts WHERE name = 'Many')";
  await database.pool.query(
    `INSERT INTO accounts SELECT 'acc_' || uuidv7(), 'Many', 'network', 'active', false, now(), now()
     FROM generate_series(1, 250)`,
  );
  await database.pool.query(`INSERT INTO balances (account_id) SELECT id FROM ${many} AS account`);
  await database.pool.query(
    `WITH entry AS (
       INSERT INTO ledger_entries (id, account_id, seq, kind, amount, balance_after, description, idempotency_key, created_at)
       SELECT 'led_' || uuidv7(), id, 1, 'grant', 10, 10, 'Test', 'test', now() FROM ${many} AS account RETURNING id, account_id)
     INSERT INTO token_grants SELECT id, account_id, 10, 10, 10, $1::timestamptz, now() FROM entry`,
    [soon()],
  );
  clock.advance({ minutes: 2 });
  await expireGrants({ database, outbox, clock });
  const { rows } = await database.pool.query(
    `SELECT sum(balance_after)::int AS left, count(*)::int AS entries FROM ledger_entries
     WHERE kind = 'expiry' AND account_id IN ${many}`,
  );
  expect(rows).toEqual([{ left: 0, entries: 250 }]);
});
