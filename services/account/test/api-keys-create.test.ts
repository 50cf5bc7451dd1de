import { createApiKey, getApiKey } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join, type Person, startAccountService, withClaims } from './support.ts';
import { addGroup, makeKey } from './support-keys.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService();
  ada = await join(service);
});
afterAll(() => service.stop());

const hour = 3_600_000;
const day = 24 * hour;
const fromNow = (ms: number) => new Date(service.clock.now().getTime() + ms).toISOString();
const uuidV7 = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

test('201: only a name is needed; every other field comes back with its default', async () => {
  const before = service.clock.now().getTime();
  const { status, body, headers } = await ada.client.call(createApiKey, { body: { name: 'Dashboard export' } });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(new RegExp(`^key_${uuidV7}$`)),
    name: 'Dashboard export',
    access_key_id: expect.stringMatching(/^atp_stage_[0-9A-Za-z]{22}$/),
    role: 'viewer',
    type: 'api',
    readonly: true,
    group_scope: 'all',
    groups: [],
    created_by: ada.userId,
    expires_at: null,
    last_used_at: null,
    rotated_at: null,
    revoked_at: null,
    created_at: expect.stringMatching(/Z$/),
    access_key_secret: expect.stringMatching(/^[0-9A-Za-z]{40}$/),
  });
  expect(Date.parse(body.created_at)).toBeGreaterThanOrEqual(before);
  expect(headers.get('cache-control')).toBe('no-store');
});

test('201: the given fields are returned, and reading the key returns the same without the secret', async () => {
  const group = await addGroup(service, ada.accountId);
  const { access_key_secret: secret, ...key } = await makeKey(ada.client, {
    name: '  Nightly export ',
    role: 'member',
    type: 'api',
    readonly: false,
    group_scope: 'selected',
    groups: [group],
    expires_in: '30d',
  });
  expect(secret).toHaveLength(40);
  expect(key).toMatchObject({
    name: 'Nightly export',
    role: 'member',
    type: 'api',
    readonly: false,
    group_scope: 'selected',
    groups: [{ group_id: group, role: 'm' }],
  });
  expect((await ada.client.call(getApiKey, { params: { id: key.id } })).body).toEqual(key);
});

test('201: groups are given as ids or with a role, and returned as sorted objects', async () => {
  const [first, second, third] = [
    await addGroup(service, ada.accountId),
    await addGroup(service, ada.accountId),
    await addGroup(service, ada.accountId),
  ];
  const groups = [{ group_id: third, role: 'a' as const }, second, { group_id: first }];
  const key = await makeKey(ada.client, { group_scope: 'selected', groups });
  expect(key.groups).toEqual([
    { group_id: first, role: 'm' },
    { group_id: second, role: 'm' },
    { group_id: third, role: 'a' },
  ]);
});

test.each([
  ['viewer', undefined, true],
  ['viewer', false, true],
  ['viewer', true, true],
  ['member', undefined, true],
  ['member', false, false],
  ['admin', undefined, true],
  ['admin', false, false],
] as const)('201: a key of role %s with readonly %s is read-only: %s', async (role, readonly, expected) => {
  const key = await makeKey(ada.client, { role, ...(readonly !== undefined && { readonly }) });
  expect([key.role, key.readonly]).toEqual([role, expected]);
});

test('201: an admin creates keys with every role up to admin', async () => {
  const admin = withClaims(service, ada, { role: 'admin' });
  for (const role of ['viewer', 'member', 'admin'] as const) expect((await makeKey(admin, { role })).role).toBe(role);
});

test('201: two keys may have the same name', async () => {
  const [one, other] = [await makeKey(ada.client), await makeKey(ada.client)];
  for (const field of ['id', 'access_key_id', 'access_key_secret'] as const) expect(one[field]).not.toBe(other[field]);
});

test.each([
  ['1s', 1_000],
  ['90m', 1.5 * hour],
  ['48h', 48 * hour],
  ['7d', 7 * day],
  ['90d', 90 * day],
  ['2160h', 90 * day],
  ['7776000s', 90 * day],
])('201: expires_in %s is counted from creation', async (expires_in, ms) => {
  const { created_at, expires_at } = await makeKey(ada.client, { expires_in });
  expect(Date.parse(expires_at ?? '') - Date.parse(created_at)).toBe(ms);
});

test.each([
  ['a second', 1_000],
  ['a day', day],
  ['almost 90 days', 90 * day - 1],
])('201: expires_at %s ahead is kept to the millisecond', async (_what, ms) => {
  const expires_at = fromNow(ms);
  expect((await makeKey(ada.client, { expires_at })).expires_at).toBe(expires_at);
});

test('201: fields that the caller cannot choose are not taken from the body', async () => {
  const other = await join(service);
  const own = {
    id: 'key_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f',
    account_id: other.accountId,
    created_by: other.userId,
    access_key_id: 'atp_live_chosen',
    access_key_secret: 'x'.repeat(40),
    secret_hash: 'x',
    created_at: '2020-01-01T00:00:00.000Z',
    last_used_at: '2020-01-01T00:00:00.000Z',
    rotated_at: '2020-01-01T00:00:00.000Z',
    revoked_at: '2020-01-01T00:00:00.000Z',
  };
  const key = await makeKey(ada.client, own as object);
  expect(key).toMatchObject({ created_by: ada.userId, last_used_at: null, rotated_at: null, revoked_at: null });
  for (const field of ['id', 'access_key_id', 'access_key_secret', 'created_at'] as const)
    expect(key[field]).not.toBe(own[field]);
  const { rows } = await service.db.query('SELECT account_id, secret_hash FROM api_keys WHERE id = $1', [key.id]);
  expect(rows).toEqual([{ account_id: ada.accountId, secret_hash: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
});

test('the access key id names the environment of the platform', async () => {
  const live = await startAccountService({ API_KEY_ENVIRONMENT: 'live', API_KEY_PREFIX: 'acme' });
  try {
    const { client } = await join(live);
    expect((await makeKey(client)).access_key_id).toMatch(/^acme_live_[0-9A-Za-z]{22}$/);
  } finally {
    await live.stop();
  }
});
