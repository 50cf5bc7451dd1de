import { listAccountTypes, listPlans } from '@attribution/contracts';
import { keyToken, personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startAccountService } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const as = (token: string) => service.client.with({ token });

test('200: all plans with their entitlements, in order; null means no limit', async () => {
  const { status, body } = await as(personToken()).call(listPlans);
  expect(status).toBe(200);
  expect(body.map(({ key }) => key)).toEqual(['free', 'starter', 'growth', 'enterprise']);
  expect(body[0]).toEqual({
    id: expect.stringMatching(/^pln_/),
    key: 'free',
    name: 'Free',
    description: expect.any(String),
    entitlements: { tokens: 1000, users: 25, locations: 100, screens: 500 },
  });
  expect(body.at(-1)?.entitlements).toEqual({ tokens: 250_000, users: null, locations: null, screens: null });
});

test('200: the active account types, in order', async () => {
  await service.db.query(
    `INSERT INTO account_types VALUES ('agency', 'Agency', 'For others', 0, true), ('old', 'Old', 'No more', 3, false)`,
  );
  const { status, body } = await as(personToken()).call(listAccountTypes);
  expect(status).toBe(200);
  expect(body.map(({ key }) => key)).toEqual(['agency', 'network', 'brand']);
  expect(body[0]).toEqual({ key: 'agency', name: 'Agency', description: 'For others' });

  await service.db.query("UPDATE account_types SET active = false WHERE key = 'network'");
  const after = await as(personToken()).call(listAccountTypes);
  expect(after.body.map(({ key }) => key)).toEqual(['agency', 'brand']);
});

describe.each([
  ['/v2/plans', listPlans],
  ['/v2/account-types', listAccountTypes],
] as const)('%s', (_path, endpoint) => {
  test('200: for a member, a viewer key and any caller who reads in account', async () => {
    const read = personToken({ role: 'member', svc: { account: 'r' } });
    for (const token of [personToken({ role: 'member' }), keyToken(), read]) {
      expect((await as(token).call(endpoint)).status).toBe(200);
    }
  });

  test('401: without a token', async () => {
    const { status, problem, headers } = await service.client.call(endpoint);
    expect([status, problem?.kind]).toEqual([401, 'unauthorized']);
    expect(headers.get('www-authenticate')).toBe('Bearer');
  });

  test('403: without access to account', async () => {
    const { status, problem } = await as(personToken({ svc: { campaign: 'w' } })).call(endpoint);
    expect([status, problem?.kind]).toEqual([403, 'forbidden']);
    expect(problem?.detail).toBe('This credential has no access to account.');
  });
});
