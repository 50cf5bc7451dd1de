import { getBalance, newId } from '@attribution/contracts';
import { keyToken, personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join, rows, startAccountService } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

interface Grant {
  readonly amount: number;
  readonly remaining: number;
  readonly priority: number;
  readonly expiresAt: string | null;
  readonly createdAt: string;
}

/** Adds a grant as a purchase would; returns its id. */
async function addGrant(accountId: string, seq: number, grant: Grant): Promise<string> {
  const id = newId('ledger_entry');
  await service.db.query(
    `INSERT INTO ledger_entries (id, account_id, seq, kind, amount, balance_after, description, idempotency_key, created_at)
     VALUES ($1, $2, $3, 'purchase', $4, 1000000, 'Pack', $5, now())`,
    [id, accountId, seq, grant.amount, `test ${seq}`],
  );
  await service.db.query('INSERT INTO token_grants VALUES ($1, $2, $3, $4, $5, $6, $7)', [
    id,
    accountId,
    grant.amount,
    grant.remaining,
    grant.priority,
    grant.expiresAt,
    grant.createdAt,
  ]);
  return id;
}

test('200: the free grant of a new account, all of it available', async () => {
  const { client, accountId } = await join(service);
  const { status, body } = await client.call(getBalance, { params: { id: accountId } });
  expect(status).toBe(200);
  const [entry] = await rows<{ id: string }>(service, 'SELECT id FROM ledger_entries WHERE account_id = $1', accountId);
  expect(body).toEqual({
    account_id: accountId,
    posted: 1000,
    held: 0,
    available: 1000,
    grants: [
      {
        id: entry?.id,
        amount: 1000,
        remaining: 1000,
        priority: 10,
        expires_at: null,
        created_at: expect.stringMatching(/Z$/),
      },
    ],
  });
});

test('200: available is what is posted less what is held', async () => {
  const { client, accountId } = await join(service);
  await service.db.query('UPDATE balances SET held = 300 WHERE account_id = $1', [accountId]);
  const { body } = await client.call(getBalance, { params: { id: accountId } });
  expect(body).toMatchObject({ posted: 1000, held: 300, available: 700 });
});

test('200: grants stand in the order they burn: priority, then expiry, then age; spent ones are left out', async () => {
  const { client, accountId } = await join(service);
  const add = (seq: number, priority: number, expiresAt: string | null, createdAt: string, remaining = 50) =>
    addGrant(accountId, seq, { amount: 50, remaining, priority, expiresAt, createdAt });
  const lastOfAll = await add(2, 20, null, '2026-01-02T00:00:00Z');
  const older = await add(3, 20, null, '2026-01-01T00:00:00Z');
  const expiring = await add(4, 20, '2027-02-01T00:00:00.000Z', '2026-03-01T00:00:00Z');
  const expiringFirst = await add(5, 20, '2027-01-01T00:00:00.000Z', '2026-03-01T00:00:00Z', 1);
  const beforeFree = await add(6, 5, null, '2026-03-01T00:00:00Z');
  const spent = await add(7, 1, null, '2026-03-01T00:00:00Z', 0);

  const { body } = await client.call(getBalance, { params: { id: accountId } });
  const ids = body.grants.map(({ id }) => id);
  expect(ids).toEqual([beforeFree, expect.any(String), expiringFirst, expiring, older, lastOfAll]);
  expect(ids).not.toContain(spent);
  expect(body.grants[1]).toMatchObject({ priority: 10, amount: 1000 });
  expect(body.grants[2]).toMatchObject({ remaining: 1, expires_at: '2027-01-01T00:00:00.000Z' });
});

test('200: amounts beyond 32 bits', async () => {
  const { client, accountId } = await join(service);
  await service.db.query('UPDATE balances SET posted = 9000000000 WHERE account_id = $1', [accountId]);
  const { body } = await client.call(getBalance, { params: { id: accountId } });
  expect(body.available).toBe(9_000_000_000);
});

test('200: for a key that reads', async () => {
  const { accountId } = await join(service);
  const key = service.client.with({ token: keyToken({ account: accountId }) });
  expect((await key.call(getBalance, { params: { id: accountId } })).status).toBe(200);
});

test('401: without a token', async () => {
  const { status, problem } = await service.client.call(getBalance, { params: { id: newId('account') } });
  expect([status, problem?.kind]).toEqual([401, 'unauthorized']);
});

test('403: without access to account', async () => {
  const account = newId('account');
  const client = service.client.with({ token: personToken({ account, svc: {} }) });
  const { status, problem } = await client.call(getBalance, { params: { id: account } });
  expect([status, problem?.kind, problem?.detail]).toEqual([
    403,
    'forbidden',
    'This credential has no access to account.',
  ]);
});

test('404: the caller’s own account, where it is gone', async () => {
  const account = newId('account');
  const client = service.client.with({ token: personToken({ account }) });
  expect((await client.call(getBalance, { params: { id: account } })).problem?.kind).toBe('not-found');
});
