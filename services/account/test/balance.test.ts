import { getBalance } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { keyToken, personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { atOnce, join, rows, startAccountService } from './support.ts';
import { capture, grant, hold, holdId } from './support-ledger.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

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

test('200: available is the posted amount minus the held amount', async () => {
  const { client, accountId } = await join(service);
  await hold(service, accountId, { amount: 300 });
  const { body } = await client.call(getBalance, { params: { id: accountId } });
  expect(body).toMatchObject({ posted: 1000, held: 300, available: 700 });
});

test('200: grants are in their order of use: priority, then expiry, then age; spent ones are omitted', async () => {
  const { client, accountId } = await join(service);
  const add = async (priority: number, expires_at: string | null = null) =>
    (await grant(service, accountId, { amount: 50, priority, expires_at })).body.id;
  const older = await add(20);
  const newer = await add(20);
  const expiring = await add(20, '2099-02-01T00:00:00.000Z');
  const expiringFirst = await add(20, '2099-01-01T00:00:00.000Z');
  const beforeFree = await add(5);
  const spent = await add(1);
  await capture(service, await holdId(service, accountId, { amount: 51 }), 51);

  const { body } = await client.call(getBalance, { params: { id: accountId } });
  const ids = body.grants.map(({ id }) => id);
  expect(ids).toEqual([beforeFree, expect.any(String), expiringFirst, expiring, older, newer]);
  expect(ids).not.toContain(spent);
  expect(body.grants[0]).toMatchObject({ priority: 5, amount: 50, remaining: 49 });
  expect(body.grants[1]).toMatchObject({ priority: 10, amount: 1000 });
  expect(body.grants[2]).toMatchObject({ remaining: 50, expires_at: '2099-01-01T00:00:00.000Z' });
});

test('200: an account that has spent everything has no grants left', async () => {
  const { client, accountId } = await join(service);
  await capture(service, await holdId(service, accountId, { amount: 1000 }), 1000);
  const { body } = await client.call(getBalance, { params: { id: accountId } });
  expect(body).toEqual({ account_id: accountId, posted: 0, held: 0, available: 0, grants: [] });
});

test('200: the posted amount is the sum of the remaining grants, also while tokens are spent', async () => {
  const { client, accountId } = await join(service);
  const ids = await atOnce(() => holdId(service, accountId, { amount: 10 }));
  const spending = Promise.all(ids.map((id) => capture(service, id, 10)));
  const seen = await atOnce(() => client.call(getBalance, { params: { id: accountId } }));
  for (const { body } of seen) {
    expect(body.grants.reduce((sum, { remaining }) => sum + remaining, 0)).toBe(body.posted);
    expect(body.available).toBe(body.posted - body.held);
  }
  await spending;
});

test('200: amounts beyond 32 bits', async () => {
  const { client, accountId } = await join(service);
  await grant(service, accountId, { amount: 9_000_000_000 });
  const { body } = await client.call(getBalance, { params: { id: accountId } });
  expect(body).toMatchObject({ posted: 9_000_001_000, available: 9_000_001_000 });
});

test('200: for a key with read access', async () => {
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

test('404: the caller’s own account, after it was deleted', async () => {
  const account = newId('account');
  const client = service.client.with({ token: personToken({ account }) });
  expect((await client.call(getBalance, { params: { id: account } })).problem?.kind).toBe('not-found');
});
