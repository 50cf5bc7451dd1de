import { exchangeApiKey, getBalance, listPlans, rotateApiKey } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { atOnce, claimsIn, join, type Person, startAccountService, statusesOf } from './support.ts';
import { addGroup, exchange, makeKey, tokenOf } from './support-keys.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService();
  ada = await join(service);
});
afterAll(() => service.stop());

const reads = (token: string) => service.client.with({ token }).call(getBalance, { params: { id: ada.accountId } });

test('200: a token for 15 minutes, and no refresh token', async () => {
  const { status, body, headers } = await exchange(service, await makeKey(ada.client));
  expect(status).toBe(200);
  expect(body).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 900 });
  expect(headers.get('cache-control')).toBe('no-store');
  const { iat, exp } = claimsIn(service, body.access_token);
  expect(exp - iat).toBe(900);
  expect((await reads(body.access_token)).status).toBe(200);
});

test('200: the claims are those of the key: its id, its account, its rights, and no session', async () => {
  const key = await makeKey(ada.client, { role: 'admin', readonly: false });
  const { iat: _iat, exp: _exp, ...claims } = claimsIn(service, await tokenOf(service, key));
  expect(claims).toEqual({
    iss: 'attribution-platform',
    aud: 'attribution-platform',
    sub: key.id,
    account: ada.accountId,
    role: 'admin',
    account_type: 'network',
    key: { type: 'api', readonly: false },
  });
});

test.each([
  ['viewer', 'n'],
  ['member', 'n'],
  ['admin', undefined],
] as const)('200: a %s key has the claim bil %s', async (role, bil) => {
  const claims = claimsIn(service, await tokenOf(service, await makeKey(ada.client, { role, readonly: false })));
  expect([claims.role, claims.bil]).toEqual([role, bil]);
  expect(claims.key).toEqual({ type: 'api', readonly: role === 'viewer' });
});

test('200: a narrowed key carries its groups with their roles', async () => {
  const [north, south] = [await addGroup(service, ada.accountId), await addGroup(service, ada.accountId)];
  const groups = [{ group_id: north, role: 'a' as const }, south];
  const key = await makeKey(ada.client, { group_scope: 'selected', groups });
  const claims = claimsIn(service, await tokenOf(service, key));
  expect([claims.group_scope, claims.groups]).toEqual(['selected', { [north]: 'a', [south]: 'm' }]);
});

test('200: a narrowed key whose groups were deleted sees nothing, not everything', async () => {
  const key = await makeKey(ada.client, { group_scope: 'selected', groups: [await addGroup(service, ada.accountId)] });
  await service.db.query('DELETE FROM api_key_grants WHERE api_key_id = $1', [key.id]);
  const claims = claimsIn(service, await tokenOf(service, key));
  expect([claims.group_scope, claims.groups]).toEqual(['selected', {}]);
});

test('200: a key with the maximum number of groups gets a token that is accepted', async () => {
  const groups = await Promise.all(Array.from({ length: 100 }, () => addGroup(service, ada.accountId)));
  const token = await tokenOf(service, await makeKey(ada.client, { group_scope: 'selected', groups }));
  expect(Object.keys(claimsIn(service, token).groups ?? {})).toHaveLength(100);
  expect((await reads(token)).status).toBe(200);
});

test('200: a key can be exchanged any number of times, also in parallel', async () => {
  const key = await makeKey(ada.client);
  expect(statusesOf(await atOnce(() => exchange(service, key)))).toEqual({ 200: 20 });
});

test('200: a body and a bearer token are ignored', async () => {
  const key = await makeKey(ada.client);
  const response = await fetch(`${service.url}/v2/auth/api-token`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer garbage',
      'content-type': 'application/json',
      'x-access-key-id': key.access_key_id,
      'x-access-key-secret': key.access_key_secret,
    },
    body: '{',
  });
  expect(response.status).toBe(200);
});

test('the token of a read-only key reads and cannot write; that of another key can', async () => {
  const [reading, writing] = [
    await makeKey(ada.client, { role: 'member' }),
    await makeKey(ada.client, { role: 'member', readonly: false }),
  ];
  const logOut = async (token: string) =>
    (await fetch(`${service.url}/v2/auth/logout`, { method: 'POST', headers: { authorization: `Bearer ${token}` } }))
      .status;
  expect(await logOut(await tokenOf(service, reading))).toBe(403);
  expect(await logOut(await tokenOf(service, writing))).toBe(204);
});

test('a token from before a rotation is valid until it expires', async () => {
  const key = await makeKey(ada.client);
  const token = await tokenOf(service, key);
  await ada.client.call(rotateApiKey, { params: { id: key.id } });
  expect((await reads(token)).status).toBe(200);
});

test('a change of the key appears in the next token', async () => {
  const key = await makeKey(ada.client, { role: 'member' });
  await service.db.query('UPDATE api_keys SET readonly = false WHERE id = $1', [key.id]);
  expect(claimsIn(service, await tokenOf(service, key)).key).toEqual({ type: 'api', readonly: false });
});

test('the two headers are accepted by no other endpoint, and by this one only as headers', async () => {
  const { access_key_id, access_key_secret } = await makeKey(ada.client);
  const headers = { 'x-access-key-id': access_key_id, 'x-access-key-secret': access_key_secret };
  expect((await service.client.call(listPlans, { headers })).status).toBe(401);
  expect((await service.client.call(exchangeApiKey)).status).toBe(401);
  for (const names of [
    { access_key_id, access_key_secret },
    { 'x-access-key-id': access_key_id, 'x-access-key-secret': access_key_secret },
  ]) {
    const path = `${service.url}/v2/auth/api-token`;
    const inQuery = await fetch(`${path}?${new URLSearchParams(names)}`, { method: 'POST' });
    const json = { 'content-type': 'application/json' };
    const inBody = await fetch(path, { method: 'POST', headers: json, body: JSON.stringify(names) });
    expect([inQuery.status, inBody.status]).toEqual([401, 401]);
  }
});
