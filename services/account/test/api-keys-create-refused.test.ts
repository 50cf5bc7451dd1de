import { createApiKey } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { keyToken, personToken, supportToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { count, join, type Person, startAccountService, withClaims } from './support.ts';
import { fillKeys, makeKey } from './support-keys.ts';
import { type OrganizationDouble, startOrganizationDouble } from './support-organization.ts';

let organization: OrganizationDouble;
let service: TestService;
let ada: Person;
let keysBefore: number;
beforeAll(async () => {
  organization = await startOrganizationDouble();
  service = await startAccountService({ ORGANIZATION_URL: organization.url });
  ada = await join(service);
});
beforeEach(async () => {
  keysBefore = await count(service, 'api_keys');
});
afterAll(async () => {
  await service.stop();
  await organization.stop();
});

async function refusal(body: unknown, client = ada.client) {
  const { status, problem } = await client.call(createApiKey, { body: body as never });
  expect(await count(service, 'api_keys')).toBe(keysBefore);
  return `${status} ${problem?.kind} ${problem?.detail}`;
}

const duration = 'must be a duration such as 30m, 48h or 7d';
const tooLong = 'must be more than 0 and at most 90d';

test.each<[string, unknown]>([
  ['body: is required.', undefined],
  ['body: must be an object.', []],
  ['body.name: is required.', {}],
  ['body.name: must not be empty, not "  ".', { name: '  ' }],
  ['body.name: must be text, not 7.', { name: 7 }],
  ['body.name: must be one line, without control characters, not "a\\nb".', { name: 'a\nb' }],
  ['body.role: must be one of viewer, member, admin, not "owner".', { name: 'x', role: 'owner' }],
  ['body.role: must be one of viewer, member, admin, not "root".', { name: 'x', role: 'root' }],
  ['body.type: must be one of api, sim, production, not "device".', { name: 'x', type: 'device' }],
  ['body.readonly: must be true or false, not "no".', { name: 'x', readonly: 'no' }],
  ['body.group_scope: must be one of all, selected, not "some".', { name: 'x', group_scope: 'some' }],
  [`body.expires_in: ${duration}, not "week".`, { name: 'x', expires_in: 'week' }],
  [`body.expires_in: ${duration}, not "1w".`, { name: 'x', expires_in: '1w' }],
  [`body.expires_in: ${duration}, not "30".`, { name: 'x', expires_in: '30' }],
  [`body.expires_in: ${duration}, not "1.5d".`, { name: 'x', expires_in: '1.5d' }],
  [`body.expires_in: ${duration}, not "-1d".`, { name: 'x', expires_in: '-1d' }],
  [`body.expires_in: ${duration}, not " 30d".`, { name: 'x', expires_in: ' 30d' }],
  [`body.expires_in: ${duration}, not "30D".`, { name: 'x', expires_in: '30D' }],
  [`body.expires_in: ${duration}, not "1d12h".`, { name: 'x', expires_in: '1d12h' }],
  [`body.expires_in: ${duration}, not "0".`, { name: 'x', expires_in: '0' }],
  [`body.expires_in: ${tooLong}, not "0s".`, { name: 'x', expires_in: '0s' }],
  [`body.expires_in: ${tooLong}, not "91d".`, { name: 'x', expires_in: '91d' }],
  [`body.expires_in: ${tooLong}, not "7776001s".`, { name: 'x', expires_in: '7776001s' }],
  [`body.expires_in: ${tooLong}, not "999999999d".`, { name: 'x', expires_in: '999999999d' }],
  ['body.expires_in: must be text, not 30.', { name: 'x', expires_in: 30 }],
  ['body.groups: must not be empty when group_scope is selected.', { name: 'x', group_scope: 'selected' }],
  ['body.groups: must not be empty when group_scope is selected.', { name: 'x', group_scope: 'selected', groups: [] }],
  ['body.groups: must be empty when group_scope is all.', { name: 'x', groups: [newId('group')] }],
])('400: %s', async (detail, body) => {
  expect(await refusal(body)).toBe(`400 validation-error ${detail}`);
});

const oneGroup = newId('group');
const mustBeGroup = 'must be a group id (grp_…), or an object of group_id and role';

test.each<[string, unknown[]]>([
  [`body.groups[0]: ${mustBeGroup}, not "north".`, ['north']],
  [`body.groups[1]: ${mustBeGroup}.`, [oneGroup, { group_id: newId('group'), role: 'x' }]],
  [`body.groups[0]: ${mustBeGroup}.`, [{ role: 'a' }]],
  ['body.groups: must not name a group twice.', [oneGroup, { group_id: oneGroup, role: 'a' }]],
  ['body.groups: must have at most 100 groups.', Array.from({ length: 101 }, () => newId('group'))],
])('400: %s', async (detail, groups) => {
  expect(await refusal({ name: 'x', group_scope: 'selected', groups })).toBe(`400 validation-error ${detail}`);
});

const day = 24 * 3_600_000;

test.each<[string, (now: number) => string]>([
  ['is not in the future', (now) => new Date(now - 1_000).toISOString()],
  ['is more than 90 days after', (now) => new Date(now + 90 * day + 5_000).toISOString()],
  ['is more than 90 days after', () => '9999-12-31T23:59:59.999Z'],
  ['not "', (now) => new Date(now + day).toISOString().slice(0, 10)],
  ['not "', (now) => new Date(now + day).toISOString().replace('Z', '+02:00')],
  ['not "', () => '2099-02-30T00:00:00Z'],
  ['not "', () => 'tomorrow'],
])('400: an expires_at that %s', async (what, expiry) => {
  const expires_at = expiry(service.clock.now().getTime());
  const message = await refusal({ name: 'x', expires_at });
  expect(message).toMatch(/^400 validation-error body\.expires_at: /);
  expect(message).toContain(what);
  expect(message).toContain(expires_at);
});

test('400: both expires_in and expires_at', async () => {
  const expires_at = new Date(service.clock.now().getTime() + day).toISOString();
  expect(await refusal({ name: 'x', expires_in: '1d', expires_at })).toBe(
    '400 validation-error body.expires_at: give it or expires_in, not both.',
  );
});

test('422: a group that does not exist and one of another account get the same response', async () => {
  const other = await join(service);
  const groups = [newId('group'), organization.addGroup(other.accountId)];
  for (const group of groups) {
    expect(await refusal({ name: 'x', group_scope: 'selected', groups: [group] })).toBe(
      `422 unprocessable body.groups: ${group} is not a group of this account.`,
    );
  }
});

test('201: a group without an event yet is looked up', async () => {
  const group = organization.addGroup(ada.accountId);
  expect((await makeKey(ada.client, { group_scope: 'selected', groups: [group] })).groups).toEqual([
    { group_id: group, role: 'm' },
  ]);
});

test('502: groups cannot be looked up', async () => {
  const lonely = await startAccountService();
  try {
    const { client } = await join(lonely);
    const { status, problem } = await client.call(createApiKey, {
      body: { name: 'x', group_scope: 'selected', groups: [newId('group')] },
    });
    expect([status, problem?.kind]).toEqual([502, 'upstream-error']);
    expect(await count(lonely, 'api_keys')).toBe(0);
  } finally {
    await lonely.stop();
  }
});

test('refusals come in this order: 401, 403 for the credential, 403 for the role, 400, 403 for the given rights, 422', async () => {
  const unknown = newId('group');
  const as = (token: string) => service.client.with({ token });
  const malformed = { name: '', type: 'sim', group_scope: 'selected', groups: [unknown] };
  const { accountId: account } = ada;
  const narrowed = as(personToken({ account, role: 'admin', group_scope: 'selected', groups: { [unknown]: 'm' } }));
  const administering = as(personToken({ account, role: 'admin', groups: { [unknown]: 'a' } }));

  expect(await refusal(malformed, service.client)).toMatch(/^401 unauthorized/);
  expect(await refusal(malformed, as(keyToken({ account, role: 'admin' })))).toMatch(/^403 forbidden An API key/);
  expect(await refusal(malformed, as(supportToken({ account })))).toMatch(/^403 forbidden A support session/);
  expect(await refusal(malformed, as(personToken({ account, role: 'member' })))).toMatch(/^403 forbidden The role/);
  expect(await refusal(malformed, narrowed)).toMatch(/^400 validation-error body.name/);
  expect(await refusal({ ...malformed, name: 'x' }, narrowed)).toMatch(/^403 forbidden body.type: sim/);
  expect(await refusal({ ...malformed, name: 'x', type: 'api' }, narrowed)).toBe(
    `403 forbidden You do not administer the group ${unknown}.`,
  );
  expect(await refusal({ ...malformed, name: 'x', type: 'api' }, administering)).toMatch(/^422 unprocessable/);
});

test.each(['sim', 'production'])('403: an ordinary caller cannot create a key of type %s', async (type) => {
  expect(await refusal({ name: 'x', type })).toBe(
    `403 forbidden body.type: ${type} keys are made by the platform itself.`,
  );
});

test('403: a caller without every service cannot create a key, which would have them all', async () => {
  const as = (svc: object) => withClaims(service, ada, { role: 'admin', svc });
  const detail = (name: string) => `403 forbidden A key has every service, and you do not have ${name} to give.`;
  const reader = as({ '*': 'r', account: 'w' });
  expect(await refusal({ name: 'x' }, as({ account: 'w' }))).toBe(detail('organization'));
  expect(await refusal({ name: 'x', role: 'admin', readonly: false }, reader)).toBe(detail('organization'));
  // A key below admin has no billing access, so billing access is not needed to create one.
  const unbilled = as({ account: 'w', organization: 'w', device: 'w', campaign: 'w', events: 'w', utilities: 'w' });
  expect(await refusal({ name: 'x', role: 'admin', readonly: false }, unbilled)).toBe(detail('billing'));
  expect((await makeKey(unbilled, { role: 'member', readonly: false })).role).toBe('member');
  expect((await makeKey(reader, { role: 'admin' })).readonly).toBe(true);
});

test('403: a caller narrowed to groups cannot create a key for all groups', async () => {
  const group = organization.addGroup(ada.accountId);
  const narrowed = withClaims(service, ada, { role: 'admin', group_scope: 'selected', groups: { [group]: 'a' } });
  expect(await refusal({ name: 'x' }, narrowed)).toBe('403 forbidden The group_scope all is wider than your own.');
  const key = await makeKey(narrowed, { group_scope: 'selected', groups: [group] });
  expect(key.groups).toEqual([{ group_id: group, role: 'm' }]);
});

test('422: an account has 1,000 live keys at most, however many are created at once', async () => {
  const owner = await join(service);
  await fillKeys(service, owner.accountId, 998, 10);
  const create = () => owner.client.call(createApiKey, { body: { name: 'One more' } });
  const answers = await Promise.all(Array.from({ length: 6 }, create));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 422, 422, 422, 422]);
  expect((await create()).problem?.detail).toBe('An account has at most 1000 live keys.');
  await service.db.query(
    'UPDATE api_keys SET expires_at = now() WHERE id = (SELECT max(id) FROM api_keys WHERE account_id = $1)',
    [owner.accountId],
  );
  expect((await create()).status).toBe(201);
});
