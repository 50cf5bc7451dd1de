import { type Client, closeAccount, createInvitation, listInvitations, resendInvitation } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join, newEmail, type Person, startAccountService, withClaims } from './support.ts';
import { addGroup } from './support-keys.ts';
import { addMember, invite } from './support-members.ts';
import { startOrganizationDouble } from './support-organization.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService();
  ada = await join(service);
});
afterAll(() => service.stop());

const create = (body: object, { client }: { client: Client } = ada) =>
  client.call(createInvitation, { body: body as never });

test.each([
  [{}, 'body.email: is required.'],
  [{ email: 'bob@' }, 'body.email: must be an email address, not "bob@".'],
  [{ email: 'bob@example.com', role: 'owner' }, 'body.role: must be one of admin, member, not "owner".'],
  [{ email: 'bob@example.com', role: 'viewer' }, 'body.role: must be one of admin, member, not "viewer".'],
  [
    { email: 'bob@example.com', role: 'admin', group_scope: 'selected' },
    'body.group_scope: must be all for an owner or admin.',
  ],
  [
    { email: 'bob@example.com', groups: ['grp_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f'] },
    'body.groups: must be empty when group_scope is all.',
  ],
  [{ email: 'bob@example.com', services: [] }, 'body.services: must be an object.'],
  [{ email: 'bob@example.com', billing: 1 }, 'body.billing: must be true or false, not 1.'],
])('400: %j', async (body, detail) => {
  const { status, problem } = await create(body);
  expect([status, problem?.kind, problem?.detail]).toEqual([400, 'validation-error', detail]);
});

test('403: a caller cannot give more rights in an invitation than the caller has', async () => {
  const [own, other] = [await addGroup(service, ada.accountId), await addGroup(service, ada.accountId)];
  const as = (claims: object) => withClaims(service, ada, { role: 'admin', ...claims });
  const narrowed = as({ group_scope: 'selected', groups: { [own]: 'a' } });
  const reading = as({ svc: { '*': 'r', account: 'w' } });
  for (const [client, body, detail] of [
    [narrowed, {}, 'body.group_scope: all is more than your own.'],
    [narrowed, { group_scope: 'selected', groups: [own, other] }, `body.groups: you do not administer ${other}.`],
    [reading, {}, 'body.services: w in organization is more than your own.'],
    [reading, { services: { campaign: 'w' } }, 'body.services: w in campaign is more than your own.'],
  ] as const) {
    const { status, problem } = await create({ email: newEmail(), ...body }, { client });
    expect([status, problem?.kind, problem?.detail]).toEqual([403, 'forbidden', detail]);
  }
  const fitting = { email: newEmail(), group_scope: 'selected', groups: [own] };
  expect((await create(fitting, { client: narrowed })).status).toBe(201);
  expect((await create({ email: newEmail(), services: { '*': 'r' } }, { client: reading })).status).toBe(201);
});

test('422: a group that the account does not have; 502: when that cannot be checked', async () => {
  const group = newId('group');
  const body = { email: newEmail(), group_scope: 'selected', groups: [group] };
  expect((await create(body)).problem).toMatchObject({ status: 502, kind: 'upstream-error' });
  const organization = await startOrganizationDouble();
  const other = await startAccountService({ ORGANIZATION_URL: organization.url });
  expect((await create(body, await join(other))).problem).toMatchObject({
    status: 422,
    kind: 'unprocessable',
    detail: `body.groups: ${group} is not a group of this account.`,
  });
  await other.stop();
  await organization.stop();
});

test('409: an address that is already invited, in any letter case, until the invitation expires', async () => {
  const { email, id } = await invite(service, ada);
  for (const again of [email, email.toUpperCase()])
    expect((await create({ email: again })).problem).toMatchObject({
      status: 409,
      detail: 'body.email: is invited already.',
    });
  await service.db.query('UPDATE invitations SET expires_at = now() WHERE id = $1', [id]);
  expect((await create({ email: email.toUpperCase() })).status).toBe(201);
  expect(
    (await ada.client.call(listInvitations)).body.entries.filter((one) => one.email.toLowerCase() === email),
  ).toHaveLength(1);
});

test('409: an address whose user is already in the account, active or disabled', async () => {
  const bob = await addMember(service, ada);
  const detail = 'body.email: is a user of this account already.';
  for (const email of [ada.email, bob.email.toUpperCase()])
    expect((await create({ email })).problem).toMatchObject({ status: 409, detail });
  await service.db.query("UPDATE memberships SET status = 'disabled' WHERE user_id = $1", [bob.userId]);
  expect((await create({ email: bob.email })).problem).toMatchObject({ status: 409, detail });
});

test('409: a closed account cannot invite', async () => {
  const owner = await join(service);
  const { id } = await invite(service, owner);
  await owner.client.call(closeAccount, { params: { id: owner.accountId } });
  for (const answer of [
    await create({ email: newEmail() }, owner),
    await owner.client.call(resendInvitation, { params: { id } }),
  ])
    expect(answer.problem).toMatchObject({ status: 409, detail: 'The account is closed.' });
});
