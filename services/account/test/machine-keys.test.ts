import { closeAccount, createMachineKey, rotateApiKey, updateApiKey } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { internalToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { atOnce, claimsIn, count, join, type Person, startAccountService, statusesOf } from './support.ts';
import { addGroup, age, auditRecordsOn, keyEvents, outcomeOf, readKey, revoked, tokenOf } from './support-keys.ts';
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

type Type = 'sim' | 'production';
const make = (accountId: string, type: Type, fields: object = {}) =>
  service.client
    .with({ token: internalToken('device', 'account') })
    .call(createMachineKey, { body: { account_id: accountId, type, name: 'Simulator', ...fields } });

const refusalOf = async (answer: ReturnType<typeof make>) => {
  const { status, problem } = await answer;
  return `${status} ${problem?.kind} ${problem?.detail}`;
};

test.each<Type>(['sim', 'production'])(
  '201: a %s key with its defaults, created by no user of the account',
  async (type) => {
    const { accountId, client } = await join(service);
    const { status, body } = await make(accountId, type);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      type,
      role: 'member',
      readonly: false,
      group_scope: 'all',
      groups: [],
      created_by: null,
      expires_at: null,
    });
    const { access_key_secret: _, ...key } = body;
    expect(await readKey(client, body.id)).toEqual(key);
    expect(claimsIn(service, await tokenOf(service, body))).toMatchObject({
      sub: body.id,
      account: accountId,
      key: { type, readonly: false },
    });
  },
);

test('201: one of each type per account', async () => {
  const [first, second] = [await join(service), await join(service)];
  for (const { accountId } of [first, second])
    for (const type of ['sim', 'production'] as const) expect((await make(accountId, type)).status).toBe(201);
});

test('201: a viewer key is read-only here as well, and groups narrow', async () => {
  const { accountId } = await join(service);
  const group = await addGroup(service, accountId);
  const { body } = await make(accountId, 'sim', {
    role: 'viewer',
    readonly: false,
    group_scope: 'selected',
    groups: [group],
  });
  expect(body).toMatchObject({ readonly: true, groups: [{ group_id: group, role: 'm' }] });
});

test('409: while there is a live key of that type, also during the grace of an older one', async () => {
  const { accountId, client } = await join(service);
  const { body: first } = await make(accountId, 'sim');
  const conflict = '409 conflict body.type: the account has a live sim key already.';
  expect(await refusalOf(make(accountId, 'sim'))).toBe(conflict);
  await client.call(rotateApiKey, { params: { id: first.id }, body: { grace: '48h' } });
  expect(await refusalOf(make(accountId, 'sim'))).toBe(conflict);
  expect(await count(service, 'api_keys', 'account_id = $1', accountId)).toBe(2);
});

test('201: after the key was revoked', async () => {
  const { accountId } = await join(service);
  const { body: first } = await make(accountId, 'production');
  await service.db.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [first.id]);
  expect((await make(accountId, 'production')).status).toBe(201);
});

test('201: after the key expired, which is revoked so that it cannot become a second live one', async () => {
  const { accountId, client } = await join(service);
  const { body: first } = await make(accountId, 'sim');
  const expires_at = new Date(service.clock.now().getTime() + 3_600_000).toISOString();
  await client.call(updateApiKey, { params: { id: first.id }, body: { expires_at } });
  expect((await make(accountId, 'sim')).status).toBe(409);
  await age(service, first, 1);
  const { status, body: second } = await make(accountId, 'sim');
  expect(status).toBe(201);
  expect([await outcomeOf(service, first), await outcomeOf(service, second)]).toEqual([revoked, 200]);
  expect((await client.call(rotateApiKey, { params: { id: first.id } })).status).toBe(409);
  expect((await keyEvents(service, accountId)).map(({ type, data }) => [type, data])).toEqual([
    ['api_key.created', { account_id: accountId, api_key_id: first.id }],
    ['api_key.revoked', { account_id: accountId, api_key_id: first.id }],
    ['api_key.created', { account_id: accountId, api_key_id: second.id }],
  ]);
});

test('20 at once: one is created, the others are 409', async () => {
  const { accountId } = await join(service);
  expect(statusesOf(await atOnce(() => make(accountId, 'sim')))).toEqual({ 201: 1, 409: 19 });
  expect(await count(service, 'api_keys', 'account_id = $1', accountId)).toBe(1);
});

test('20 rotations of a machine key at once leave one live key', async () => {
  const { accountId, client } = await join(service);
  const { body: key } = await make(accountId, 'production');
  const answers = await atOnce(() => client.call(rotateApiKey, { params: { id: key.id } }));
  expect(statusesOf(answers)).toEqual({ 201: 1, 409: 19 });
  expect((await make(accountId, 'production')).status).toBe(409);
});

test('the creator is in the account’s audit log', async () => {
  const { accountId } = await join(service);
  const { body: key } = await make(accountId, 'sim');
  expect(await auditRecordsOn(service, key.id)).toEqual([
    {
      action: 'api_key.created',
      outcome: 'done',
      actor_type: 'service',
      actor_id: 'device',
      details: { name: 'Simulator', type: 'sim', role: 'member', readonly: false },
    },
  ]);
});

test.each<[string, object]>([
  ['body.type: must be one of sim, production, not "api".', { type: 'api' }],
  ['body.role: must be one of viewer, member, admin, not "owner".', { role: 'owner' }],
  ['body.name: must not be empty, not "".', { name: '' }],
  ['body.account_id: must be an account id (acc_…), not "acc_1".', { account_id: 'acc_1' }],
  ['body.groups: must not be empty when group_scope is selected.', { group_scope: 'selected' }],
])('400: %s', async (detail, fields) => {
  expect(await refusalOf(make(ada.accountId, 'sim', fields))).toBe(`400 validation-error ${detail}`);
});

test('409: a closed account', async () => {
  const { client, accountId } = await join(service);
  await client.call(closeAccount, { params: { id: accountId } });
  expect(await refusalOf(make(accountId, 'sim'))).toBe('409 conflict The account is closed.');
  expect(await count(service, 'api_keys', 'account_id = $1', accountId)).toBe(0);
});

test('422: an account that does not exist, and a group of another account', async () => {
  const nobody = newId('account');
  expect(await refusalOf(make(nobody, 'sim'))).toBe(`422 unprocessable body.account_id: there is no ${nobody}.`);
  const group = organization.addGroup((await join(service)).accountId);
  expect(await refusalOf(make(ada.accountId, 'sim', { group_scope: 'selected', groups: [group] }))).toBe(
    `422 unprocessable body.groups: ${group} is not a group of this account.`,
  );
  expect(await count(service, 'api_keys', 'account_id = $1', ada.accountId)).toBe(0);
});
