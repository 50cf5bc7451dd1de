import { createApiKey, createInvitation, getMyPermissions } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addMembership, join, newEmail, startAccountService, withClaims } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const everyService = {
  account: 'w',
  organization: 'w',
  device: 'w',
  campaign: 'w',
  events: 'w',
  billing: 'w',
  utilities: 'w',
};

/** A user's permissions, after the membership was changed in the database while the token stayed the same. */
async function permissionsAfter(columns: string, grants: Record<string, 'a' | 'm'> = {}) {
  const { client, userId, accountId } = await join(service);
  await service.db.query(`UPDATE memberships SET ${columns} WHERE user_id = $1`, [userId]);
  for (const [group, role] of Object.entries(grants)) {
    await service.db.query('INSERT INTO group_grants VALUES ($1, $2, $3, $4::"GroupGrantRole")', [
      userId,
      accountId,
      group,
      role,
    ]);
  }
  return (await client.call(getMyPermissions)).body;
}

test('200: an owner may do everything, everywhere', async () => {
  const { client } = await join(service);
  const { status, body } = await client.call(getMyPermissions);
  expect(status).toBe(200);
  expect(body).toEqual({
    role: 'owner',
    group_scope: 'all',
    groups: [],
    services: everyService,
    can: {
      invite_users: true,
      manage_api_keys: true,
      manage_billing: true,
      manage_groups: true,
      set_up_estate: true,
      edit_campaigns: true,
      publish_campaigns: true,
    },
  });
});

test('200: an admin may do what an owner may', async () => {
  const { can, services, role } = await permissionsAfter("role = 'admin'");
  expect([role, services]).toEqual(['admin', everyService]);
  expect(Object.values(can)).toEqual(Array(7).fill(true));
});

test('200: a member has no billing and administers nothing', async () => {
  const { billing: _, ...others } = everyService;
  expect(await permissionsAfter("role = 'member'")).toEqual({
    role: 'member',
    group_scope: 'all',
    groups: [],
    services: others,
    can: {
      invite_users: false,
      manage_api_keys: false,
      manage_billing: false,
      manage_groups: false,
      set_up_estate: false,
      edit_campaigns: true,
      publish_campaigns: true,
    },
  });
});

test('200: billing access granted to a member is included', async () => {
  const { can, services } = await permissionsAfter("role = 'member', billing = true");
  expect(services).toEqual(everyService);
  expect(can).toMatchObject({ manage_billing: true, invite_users: false });
});

test('200: a narrowed member has groups, and can set up the estate where the member is group admin', async () => {
  const [north, south] = [newId('group'), newId('group')];
  const narrowed = "role = 'member', group_scope = 'selected'";
  const admin = await permissionsAfter(narrowed, { [north]: 'a', [south]: 'm' });
  const campaigns = { edit_campaigns: true, publish_campaigns: true };
  expect(admin.group_scope).toBe('selected');
  expect(admin.groups).toHaveLength(2);
  expect(admin.groups).toEqual(
    expect.arrayContaining([
      { group_id: north, role: 'a' },
      { group_id: south, role: 'm' },
    ]),
  );
  expect(admin.can).toMatchObject({ set_up_estate: true, manage_groups: false });
  expect(admin.can.in_groups).toEqual({
    [north]: { set_up_estate: true, ...campaigns },
    [south]: { set_up_estate: false, ...campaigns },
  });

  const member = await permissionsAfter(narrowed, { [south]: 'm' });
  expect(member.can).toMatchObject({ set_up_estate: false, edit_campaigns: true });
});

test('200: narrowed to no group is valid', async () => {
  const { group_scope, groups, can } = await permissionsAfter("role = 'member', group_scope = 'selected'");
  expect([group_scope, groups]).toEqual(['selected', []]);
  // Own campaigns may be drafted, and there is no screen to publish them to.
  expect(can).toMatchObject({ edit_campaigns: true, publish_campaigns: false, set_up_estate: false, in_groups: {} });
});

test('200: no permissions by group when the scope is all', async () => {
  const { client } = await join(service);
  expect((await client.call(getMyPermissions)).body.can).not.toHaveProperty('in_groups');
});

test('200: old grants do not appear when the scope is all', async () => {
  const { groups, can } = await permissionsAfter("role = 'member'", { [newId('group')]: 'a' });
  expect(groups).toEqual([]);
  expect(can.set_up_estate).toBe(false);
});

test.each([
  ['the wildcard fills what is not named', '{"*":"r","campaign":"w"}', { ...allOf('r'), campaign: 'w' }],
  ['what is named comes before the wildcard', '{"*":"w","campaign":"r"}', { ...allOf('w'), campaign: 'r' }],
  ['without a wildcard, the others are absent', '{"campaign":"w","events":"r"}', { campaign: 'w', events: 'r' }],
  ['nothing', '{}', {}],
  ['a map that cannot be read grants nothing', '{"campaign":"x"}', {}],
])('200: services of an owner: %s', async (_what, json, expected) => {
  const { services } = await permissionsAfter(`services = '${json}'`);
  expect(services).toEqual(expected);
});

test('200: the permissions follow the services', async () => {
  const { can } = await permissionsAfter(`services = '{"*":"r"}'`);
  expect(Object.values(can)).toEqual(Array(7).fill(false));
});

test('200: the permissions in each group follow the services too', async () => {
  const [north, south] = [newId('group'), newId('group')];
  const narrowed = `role = 'member', group_scope = 'selected', services = '{"organization":"w","campaign":"r"}'`;
  const { can } = await permissionsAfter(narrowed, { [north]: 'a', [south]: 'm' });
  const none = { set_up_estate: false, edit_campaigns: false, publish_campaigns: false };
  expect(can.in_groups).toEqual({ [north]: { ...none, set_up_estate: true }, [south]: none });
  expect(can).toMatchObject({ set_up_estate: true, edit_campaigns: false, publish_campaigns: false });
});

/** Calls the endpoints with the same rights, and compares their responses with the permissions. */
test.each([
  ['an owner', {}, 201],
  ['an admin who only reads in account', { role: 'admin', svc: { '*': 'w', account: 'r' } }, 403],
  ['an admin of campaigns alone', { role: 'admin', svc: { campaign: 'w' } }, 403],
  ['a member', { role: 'member' }, 403],
] as const)(
  '200: invite_users and manage_api_keys agree with the responses of the endpoints to %s',
  async (_who, rights, status) => {
    const person = await join(service);
    const { userId } = person;
    await service.db.query('UPDATE memberships SET role = $2::"MembershipRole", services = $3 WHERE user_id = $1', [
      userId,
      'role' in rights ? rights.role : 'owner',
      'svc' in rights ? JSON.stringify(rights.svc) : null,
    ]);
    const client = withClaims(service, person, rights);
    const { can } = (await client.call(getMyPermissions)).body;
    const invited = await client.call(createInvitation, { body: { email: newEmail() } });
    const keyed = await client.call(createApiKey, { body: { name: 'Export' } });
    expect([can.invite_users, can.manage_api_keys]).toEqual([status === 201, status === 201]);
    expect([invited.status, keyed.status]).toEqual([status, status]);
  },
);

test('200: a member without billing does not get it by the services map', async () => {
  const { services, can } = await permissionsAfter(`role = 'member', services = '{"*":"w","billing":"w"}'`);
  expect(services).not.toHaveProperty('billing');
  expect(can.manage_billing).toBe(false);
});

test('200: for the account of the token, when the user is in several', async () => {
  const { client, userId } = await join(service);
  const other = await addMembership(service, userId, { role: 'admin' });
  expect((await client.call(getMyPermissions)).body.role).toBe('owner');
  const token = personToken({ sub: userId, account: other, role: 'member' });
  expect((await service.client.with({ token }).call(getMyPermissions)).body.role).toBe('admin');
});

test.each([
  ['removed', 'DELETE FROM memberships WHERE user_id = $1'],
  ['disabled', "UPDATE memberships SET status = 'disabled' WHERE user_id = $1"],
])('401: a member who was %s since', async (_what, sql) => {
  const { client, userId } = await join(service);
  await service.db.query(sql, [userId]);
  const { status, problem, headers } = await client.call(getMyPermissions);
  expect([status, problem?.kind, problem?.detail]).toEqual([
    401,
    'unauthorized',
    'You are not a member of this account any more.',
  ]);
  expect(headers.get('www-authenticate')).toBe('Bearer');
});

test('401: for an account that was closed since', async () => {
  const { client, accountId } = await join(service);
  await service.db.query("UPDATE accounts SET status = 'closed' WHERE id = $1", [accountId]);
  expect((await client.call(getMyPermissions)).problem).toMatchObject({
    status: 401,
    detail: 'The account is closed.',
  });
});

function allOf(letter: 'r' | 'w') {
  return Object.fromEntries(Object.keys(everyService).map((name) => [name, letter]));
}
