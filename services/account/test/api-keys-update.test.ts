import { groupDeleted, updateApiKey } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { atOnce, join, type Person, startAccountService, withClaims } from './support.ts';
import { addGroup, type Key, makeKey, readKey } from './support-keys.ts';
import { type OrganizationDouble, startOrganizationDouble } from './support-organization.ts';

let organization: OrganizationDouble;
let service: TestService;
let ada: Person;
beforeAll(async () => {
  organization = await startOrganizationDouble();
  service = await startAccountService({ ORGANIZATION_URL: organization.url });
  ada = await join(service);
});
afterAll(async () => {
  await service.stop();
  await organization.stop();
});

const change = (id: string, body: unknown, client = ada.client) =>
  client.call(updateApiKey, { params: { id }, body: body as never });

/** Expects a refusal that leaves the key unchanged. */
async function refusal(key: Key, body: unknown, client = ada.client) {
  const before = await readKey(ada.client, key.id);
  const { status, problem } = await change(key.id, body, client);
  expect(await readKey(ada.client, key.id)).toEqual(before);
  return `${status} ${problem?.kind} ${problem?.detail}`;
}

test('200: each field can be changed separately, and the others stay', async () => {
  const group = await addGroup(service, ada.accountId);
  const { access_key_secret: _, ...key } = await makeKey(ada.client, { role: 'member', expires_in: '7d' });
  let expected = key;
  const expires_at = new Date(Date.parse(key.created_at) + 3_600_000).toISOString();
  const changes = [
    [{ name: ' Renamed ' }, { name: 'Renamed' }],
    [{ readonly: false }, { readonly: false }],
    [
      { group_scope: 'selected', groups: [group] },
      { group_scope: 'selected', groups: [{ group_id: group, role: 'm' }] },
    ],
    [{ expires_at }, { expires_at }],
    [{ expires_at: null }, { expires_at: null }],
    [{ readonly: true }, { readonly: true }],
    [{}, {}],
  ] as const;
  for (const [body, changed] of changes) {
    expected = { ...expected, ...(changed as object) };
    const answer = await change(key.id, body);
    expect([answer.status, answer.body]).toEqual([200, expected]);
    expect(await readKey(ada.client, key.id)).toEqual(expected);
  }
});

test('200: unknown fields are ignored, and so is an account', async () => {
  const other = await join(service);
  const key = await makeKey(ada.client);
  const { status } = await change(key.id, { account_id: other.accountId, secret_hash: 'x', unknown: 1 });
  expect(status).toBe(200);
  expect((await readKey(ada.client, key.id)).id).toBe(key.id);
});

test('200: a viewer key stays read-only, whatever the request says', async () => {
  const key = await makeKey(ada.client, { role: 'viewer' });
  const { status, body } = await change(key.id, { readonly: false });
  expect([status, body.readonly]).toEqual([200, true]);
});

test('200: groups replace all previous grants; the scope all removes them', async () => {
  const [north, south] = [await addGroup(service, ada.accountId), await addGroup(service, ada.accountId)];
  const key = await makeKey(ada.client, { group_scope: 'selected', groups: [{ group_id: north, role: 'a' }] });
  expect((await change(key.id, { groups: [south] })).body.groups).toEqual([{ group_id: south, role: 'm' }]);
  expect((await change(key.id, { groups: [north, south] })).body.groups).toHaveLength(2);
  expect((await change(key.id, { group_scope: 'all' })).body).toMatchObject({ group_scope: 'all', groups: [] });
  expect((await change(key.id, { group_scope: 'selected', groups: [north] })).body.groups).toHaveLength(1);
});

test('200: a key whose groups were deleted can be renamed, and still sees nothing', async () => {
  const group = await addGroup(service, ada.accountId);
  const key = await makeKey(ada.client, { group_scope: 'selected', groups: [group] });
  const gone = { account_id: ada.accountId, aggregate_version: 2, group_id: group };
  await service.deliver(groupDeleted, gone, ada.accountId);
  const { status, body } = await change(key.id, { name: 'Left over' });
  expect(status).toBe(200);
  expect(body).toMatchObject({ name: 'Left over', group_scope: 'selected', groups: [] });
});

test.each([
  ['id', newId('api_key')],
  ['access_key_id', 'atp_live_x'],
  ['access_key_secret', 'x'],
  ['role', 'admin'],
  ['type', 'production'],
  ['type', 'api'],
  ['created_by', newId('user')],
  ['created_at', '2026-01-01T00:00:00.000Z'],
  ['last_used_at', null],
  ['rotated_at', null],
  ['revoked_at', null],
  ['expires_in', '30d'],
])('400: %s cannot be changed', async (field, value) => {
  const key = await makeKey(ada.client);
  expect(await refusal(key, { name: 'x', [field]: value })).toMatch(
    new RegExp(`^400 validation-error body\\.${field}: cannot be changed here`),
  );
});

test.each<[string, unknown]>([
  ['body: is required.', undefined],
  ['body.name: must not be empty, not " ".', { name: ' ' }],
  ['body.name: must be text, not null.', { name: null }],
  ['body.readonly: must be true or false, not 1.', { readonly: 1 }],
  ['body.group_scope: must be one of all, selected, not "none".', { group_scope: 'none' }],
  ['body.groups: must be an array.', { groups: {} }],
  ['body.groups: must not be empty when group_scope is selected.', { group_scope: 'selected' }],
  ['body.groups: must not be empty when group_scope is selected.', { group_scope: 'selected', groups: [] }],
  ['body.groups: must be empty when group_scope is all.', { group_scope: 'all', groups: [newId('group')] }],
])('400: %s', async (detail, body) => {
  expect(await refusal(await makeKey(ada.client), body)).toBe(`400 validation-error ${detail}`);
});

test('400: groups for a key with scope all, and no groups for a key with scope selected', async () => {
  const group = await addGroup(service, ada.accountId);
  const [wide, narrow] = [
    await makeKey(ada.client),
    await makeKey(ada.client, { group_scope: 'selected', groups: [group] }),
  ];
  expect(await refusal(wide, { groups: [group] })).toMatch(/^400 .* must be empty when group_scope is all/);
  expect(await refusal(narrow, { groups: [] })).toMatch(/^400 .* must not be empty when group_scope is selected/);
});

test('403: a caller who only reads in some service cannot let a key write, but may rename one', async () => {
  const key = await makeKey(ada.client, { role: 'member' });
  const reader = withClaims(service, ada, { role: 'admin', svc: { '*': 'r', account: 'w' } });
  expect(await refusal(key, { readonly: false }, reader)).toBe(
    '403 forbidden A key has every service, and you do not have organization to give.',
  );
  expect((await change(key.id, { name: 'Renamed', readonly: true }, reader)).body).toMatchObject({ readonly: true });
});

test('403: a caller narrowed to groups can give neither other groups nor all', async () => {
  const [own, other] = [await addGroup(service, ada.accountId), await addGroup(service, ada.accountId)];
  const key = await makeKey(ada.client, { group_scope: 'selected', groups: [own] });
  const narrowed = withClaims(service, ada, { role: 'admin', groups: { [own]: 'a', [other]: 'm' } });
  expect(await refusal(key, { groups: [own, other] }, narrowed)).toBe(
    `403 forbidden You do not administer the group ${other}.`,
  );
  expect(await refusal(key, { group_scope: 'all' }, narrowed)).toMatch(/^403 forbidden The group_scope all/);
  expect((await change(key.id, { groups: [{ group_id: own, role: 'a' }] }, narrowed)).status).toBe(200);
});

test('409: a revoked key', async () => {
  const key = await makeKey(ada.client);
  await service.db.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [key.id]);
  expect(await refusal(key, { name: 'x' })).toBe('409 conflict This API key is revoked.');
});

test('422: a group that does not exist and one of another account get the same response', async () => {
  const bob = await join(service);
  const key = await makeKey(ada.client);
  for (const group of [newId('group'), await addGroup(service, bob.accountId), organization.addGroup(bob.accountId)]) {
    expect(await refusal(key, { group_scope: 'selected', groups: [group] })).toBe(
      `422 unprocessable body.groups: ${group} is not a group of this account.`,
    );
  }
});

test('20 changes at once: each is applied as a whole, and the last one stays', async () => {
  const groups = await Promise.all(Array.from({ length: 20 }, () => addGroup(service, ada.accountId)));
  const [first = ''] = groups;
  const key = await makeKey(ada.client, { group_scope: 'selected', groups: [first] });
  const answers = await atOnce((i) => change(key.id, { name: `Name ${i}`, groups: [groups[i]] }));
  for (const [i, { body }] of answers.entries())
    expect([body.name, body.groups]).toEqual([`Name ${i}`, [{ group_id: groups[i], role: 'm' }]]);
  const { name, groups: left } = await readKey(ada.client, key.id);
  expect(left).toEqual([{ group_id: groups[Number(name.slice(5))], role: 'm' }]);
});
