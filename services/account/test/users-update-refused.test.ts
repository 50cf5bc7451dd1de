import { type Client, transferOwnership, updateUser } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  atOnce,
  count,
  enter,
  join,
  type Person,
  rows,
  startAccountService,
  statusesOf,
  withClaims,
} from './support.ts';
import { addGroup } from './support-keys.ts';
import { addMember, endingsOf } from './support-members.ts';

let service: TestService;
let ada: Person;
let admin: Person;
let bob: Person;
let before: object[];
beforeAll(async () => {
  service = await startAccountService();
  ada = await join(service);
  admin = await addMember(service, ada, { role: 'admin' });
  bob = await addMember(service, ada);
});
const places = () => rows(service, 'SELECT * FROM memberships WHERE account_id = $1 ORDER BY user_id', ada.accountId);
beforeEach(async () => {
  before = await places();
});
afterAll(() => service.stop());

/** Expects a refusal with this detail, and that no membership or session has changed. */
async function refusalOf(user: Person, body: object, { client }: { client: Client } = ada): Promise<string> {
  const { status, problem } = await client.call(updateUser, { params: { id: user.userId }, body: body as never });
  expect(await places()).toEqual(before);
  expect(await endingsOf(service, bob)).toEqual([null]);
  return `${status} ${problem?.kind} ${problem?.detail}`;
}

const someGroup = 'grp_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f';

test.each([
  [{ role: 'owner' }, 'body.role: must be one of admin, member, not "owner".'],
  [{ role: 'viewer' }, 'body.role: must be one of admin, member, not "viewer".'],
  [{ role: null }, 'body.role: must be one of admin, member, not null.'],
  [{ group_scope: 'some' }, 'body.group_scope: must be one of all, selected, not "some".'],
  [{ groups: 'all' }, 'body.groups: must be an array, not "all".'],
  [
    { group_scope: 'selected', groups: ['grp_1'] },
    'body.groups[0]: must be a group id (grp_…), or an object of group_id and role, not "grp_1".',
  ],
  [
    { group_scope: 'selected', groups: [{ group_id: someGroup, role: 'x' }] },
    'body.groups[0]: must be a group id (grp_…), or an object of group_id and role.',
  ],
  [
    { group_scope: 'selected', groups: [someGroup, { group_id: someGroup }] },
    'body.groups: must not name a group twice.',
  ],
  [{ groups: [someGroup] }, 'body.groups: must be empty when group_scope is all.'],
  [
    { role: 'admin', groups: [someGroup], group_scope: 'selected' },
    'body.group_scope: must be all for an owner or admin.',
  ],
  [{ role: 'admin', group_scope: 'selected' }, 'body.group_scope: must be all for an owner or admin.'],
  [{ services: { payroll: 'w' } }, 'body.services: '],
  [{ services: { campaign: 'x' } }, 'body.services.campaign: must be one of r, w, not "x".'],
  [{ services: 'all' }, 'body.services: must be an object, not "all".'],
  [{ billing: 'y' }, 'body.billing: must be true or false, not "y".'],
  [{ status: 'gone' }, 'body.status: must be one of active, disabled, not "gone".'],
  [{ email: 'bob@example.com' }, 'body.email: cannot be changed here'],
  [{ full_name: 'Bob' }, 'body.full_name: cannot be changed here'],
  [{ mfa_enabled: false }, 'body.mfa_enabled: cannot be changed here'],
  [{ account_id: 'acc_1' }, 'body.account_id: cannot be changed here'],
])('400: %j', async (body, detail) => {
  await addKnown(someGroup);
  expect(await refusalOf(bob, body)).toContain(`400 validation-error ${detail}`);
});

const addKnown = (id: string) =>
  service.db.query('INSERT INTO known_groups VALUES ($1, $2) ON CONFLICT DO NOTHING', [id, ada.accountId]);

test('400: a narrowed scope for an admin, because an admin sees every group', async () => {
  expect(await refusalOf(admin, { group_scope: 'selected' })).toBe(
    '400 validation-error body.group_scope: must be all for an owner or admin.',
  );
});

test('400: an admin without billing access', async () => {
  expect(await refusalOf(admin, { billing: false })).toBe(
    '400 validation-error body.billing: must be true for an owner or admin.',
  );
});

test('403: a caller without billing access cannot grant it', async () => {
  const client = withClaims(service, admin, { role: 'admin', svc: { account: 'w', campaign: 'w' } });
  expect(await refusalOf(bob, { billing: true }, { client })).toBe(
    '403 forbidden body.billing: billing access is more than your own.',
  );
});

test('403: callers cannot change their own role', async () => {
  for (const [person, role] of [
    [ada, 'admin'],
    [ada, 'member'],
    [admin, 'member'],
  ] as const)
    expect(await refusalOf(person, { role }, person)).toBe('403 forbidden body.role: nobody changes their own role.');
});

test.each([
  { role: 'member' },
  { status: 'disabled' },
  { billing: false },
  { services: {} },
  { group_scope: 'all' },
  {},
])('403: an admin does not touch the owner: %j', async (body) => {
  expect(await refusalOf(ada, body, admin)).toBe('403 forbidden An admin does not touch the owner.');
});

test('401: a former owner with an earlier token cannot either', async () => {
  const former = await join(service);
  const heir = await addMember(service, former);
  await former.client.call(transferOwnership, {
    params: { id: former.accountId },
    body: { user_id: heir.userId },
  });
  const { status, problem } = await former.client.call(updateUser, {
    params: { id: heir.userId },
    body: { status: 'disabled' },
  });
  expect([status, problem?.detail]).toEqual([401, 'This session has ended. Log in again.']);
});

test.each([
  [{ '*': 'r', account: 'w' }, null, 'w in organization'],
  [{ '*': 'r', account: 'w' }, { campaign: 'w' }, 'w in campaign'],
  [{ '*': 'r', account: 'w' }, { '*': 'w' }, 'w in organization'],
  [{ account: 'w' }, { events: 'r' }, 'r in events'],
] as const)('403: nobody gives more than they have: with %j not %j', async (svc, services, what) => {
  const client = withClaims(service, admin, { role: 'admin', svc });
  for (const person of [bob, admin])
    expect(await refusalOf(person, { services }, { client })).toBe(
      `403 forbidden body.services: ${what} is more than your own.`,
    );
});

test('403: a caller cannot make an admin with more rights than the caller has', async () => {
  const client = withClaims(service, admin, { role: 'admin', svc: { account: 'w' } });
  expect(await refusalOf(bob, { role: 'admin' }, { client })).toBe(
    '403 forbidden body.services: w in organization is more than your own.',
  );
});

test('403: a narrowed admin can give the groups that it administers, and never all', async () => {
  const [own, seen, other] = [
    await addGroup(service, ada.accountId),
    await addGroup(service, ada.accountId),
    someGroup,
  ];
  const claims = { role: 'admin' as const, group_scope: 'selected', groups: { [own]: 'a', [seen]: 'm' } };
  const client = withClaims(service, admin, claims);
  for (const group of [seen, other])
    expect(await refusalOf(bob, { group_scope: 'selected', groups: [own, group] }, { client })).toBe(
      `403 forbidden body.groups: you do not administer ${group}.`,
    );
  for (const body of [{ group_scope: 'all' }, { role: 'admin' }])
    expect(await refusalOf(bob, body, { client })).toBe('403 forbidden body.group_scope: all is more than your own.');
});

test('409: callers cannot disable themselves, and the owner keeps every service', async () => {
  for (const person of [ada, admin])
    expect(await refusalOf(person, { status: 'disabled' }, person)).toBe(
      '409 conflict body.status: nobody disables themselves.',
    );
  expect(await refusalOf(ada, { services: { campaign: 'w' } })).toBe(
    '409 conflict body.services: the owner has every service; hand the account over first.',
  );
});

test('20 admins demote each other at once: a demoted admin demotes nobody afterwards, and the owner stays', async () => {
  const owner = await join(service);
  const admins: Person[] = [];
  for (let i = 0; i < 20; i++) admins.push(await addMember(service, owner, { role: 'admin' }));
  const answers = await atOnce((i) =>
    (admins[i] as Person).client.call(updateUser, {
      params: { id: (admins[(i + 1) % 20] as Person).userId },
      body: { role: 'member' },
    }),
  );
  const { 200: demoted = 0, 401: refused = 0 } = statusesOf(answers);
  expect([demoted > 0, refused > 0, demoted + refused]).toEqual([true, true, 20]);
  expect((await enter(service, owner.email)).user.id).toBe(owner.userId);
  expect(await count(service, 'memberships', "account_id = $1 AND role = 'admin'", owner.accountId)).toBe(refused);
});
