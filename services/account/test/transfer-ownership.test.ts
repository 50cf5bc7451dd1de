import { closeAccount, transferOwnership } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  addMembership,
  atOnce,
  claimsIn,
  count,
  enter,
  join,
  type Person,
  refresh,
  rows,
  startAccountService,
  statusesOf,
} from './support.ts';
import { addMember } from './support-members.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

/** The account's owners and admins. */
const administrators = ({ accountId }: Person) =>
  rows(
    service,
    "SELECT user_id, role FROM memberships WHERE account_id = $1 AND role <> 'member' ORDER BY role",
    accountId,
  );
const transfer = (client: TestService['client'], id: string, user_id: string, more: object = {}) =>
  client.call(transferOwnership, { params: { id }, body: { user_id, ...more } });

test('204: the new owner is owner, the old one is admin; both get their new role in the next token', async () => {
  const owner = await join(service);
  const heir = await addMember(service, owner);
  const { status, body } = await transfer(owner.client, owner.accountId, heir.userId, { role: 'member' });
  expect([status, body]).toEqual([204, undefined]);
  expect(await administrators(owner)).toEqual([
    { user_id: heir.userId, role: 'owner' },
    { user_id: owner.userId, role: 'admin' },
  ]);
  const entered = await enter(service, heir.email);
  expect(claimsIn(service, entered.access_token)).toMatchObject({ account: owner.accountId, role: 'owner' });
});

test('204: the refresh tokens of both become invalid in this account, and no others', async () => {
  const owner = await join(service);
  const [heir, other] = [await addMember(service, owner), await addMember(service, owner)];
  await transfer(owner.client, owner.accountId, heir.userId);
  for (const { session } of [owner, heir]) expect((await refresh(service, session.refresh_token)).status).toBe(401);
  expect((await refresh(service, other.session.refresh_token)).status).toBe(200);
});

test('204: a member narrowed to groups and services becomes owner of everything', async () => {
  const owner = await join(service);
  const heir = await addMember(service, owner);
  await service.db.query(
    `UPDATE memberships SET group_scope = 'selected', services = '{"campaign":"r"}' WHERE user_id = $1`,
    [heir.userId],
  );
  await service.db.query("INSERT INTO group_grants VALUES ($1, $2, $3, 'm')", [
    heir.userId,
    owner.accountId,
    newId('group'),
  ]);
  await transfer(owner.client, owner.accountId, heir.userId);
  const { access_token } = await enter(service, heir.email);
  const claims = claimsIn(service, access_token);
  expect(claims).toMatchObject({ account: owner.accountId, role: 'owner' });
  for (const claim of ['group_scope', 'groups', 'svc', 'bil']) expect(claims).not.toHaveProperty(claim);
  expect(await count(service, 'group_grants', 'user_id = $1', heir.userId)).toBe(0);
});

test('204: user.grants_changed is published for both', async () => {
  const owner = await join(service);
  const heir = await addMember(service, owner, { role: 'admin' });
  await transfer(owner.client, owner.accountId, heir.userId);
  await eventually(() => {
    const events = service.published.filter(({ account_id, type }) => {
      return account_id === owner.accountId && type === 'user.grants_changed';
    });
    expect(events.map(({ data }) => (data as { user_id: string }).user_id)).toEqual([owner.userId, heir.userId]);
  });
});

test('20 at once to 20 people: one becomes owner, and the others are unchanged', async () => {
  const owner = await join(service);
  const people: Person[] = [];
  while (people.length < 20) people.push(await addMember(service, owner));
  const answers = await atOnce((i) => transfer(owner.client, owner.accountId, people[i]?.userId ?? ''));
  expect(statusesOf(answers)).toEqual({ 204: 1, 403: 19 });
  const winner = people[answers.findIndex(({ status }) => status === 204)];
  expect(await administrators(owner)).toEqual([
    { user_id: winner?.userId, role: 'owner' },
    { user_id: owner.userId, role: 'admin' },
  ]);
  expect(await count(service, 'audit_log', "account_id = $1 AND action = 'account.handed_over'", owner.accountId)).toBe(
    1,
  );
});

test('403: the old owner’s token, which still says owner, no longer has an owner’s rights', async () => {
  const owner = await join(service);
  const heir = await addMember(service, owner);
  await transfer(owner.client, owner.accountId, heir.userId);
  const detail = 'You are not the owner of this account any more.';
  const again = await transfer(owner.client, owner.accountId, owner.userId);
  expect(again.problem).toMatchObject({ status: 403, detail });
  const closed = await owner.client.call(closeAccount, { params: { id: owner.accountId } });
  expect(closed.problem).toMatchObject({ status: 403, detail });
});

test.each([
  ['body.user_id: is required.', {}],
  ['body.user_id: must be text, not null.', { user_id: null }],
  ['body.user_id: must be a user id (usr_…), not "usr_1".', { user_id: 'usr_1' }],
])('400: %s', async (detail, body) => {
  const { client, accountId } = await join(service);
  const { problem } = await client.call(transferOwnership, { params: { id: accountId }, body: body as never });
  expect(problem).toMatchObject({ status: 400, kind: 'validation-error', detail });
});

test.each(['admin', 'member'] as const)('403: with the role %s, no ownership is transferred', async (role) => {
  const owner = await join(service);
  const { client, userId } = await addMember(service, owner, { role });
  expect((await transfer(client, owner.accountId, userId)).problem?.status).toBe(403);
  expect((await administrators(owner))[0]).toEqual({ user_id: owner.userId, role: 'owner' });
});

test('404: another account gets the same response as an unknown one', async () => {
  const [ada, bob] = [await join(service), await join(service)];
  const { problem } = await transfer(ada.client, bob.accountId, ada.userId);
  expect(problem).toMatchObject({ status: 404, kind: 'not-found' });
  expect((await transfer(ada.client, newId('account'), ada.userId)).problem).toEqual(problem);
});

test('409: to oneself, and for a closed account', async () => {
  const owner = await join(service);
  const { client, accountId, userId } = owner;
  const oneself = await transfer(client, accountId, userId);
  expect(oneself.problem).toMatchObject({ status: 409, detail: 'body.user_id: is the owner already.' });
  const heir = await addMember(service, owner);
  await service.db.query("UPDATE accounts SET status = 'closed' WHERE id = $1", [accountId]);
  const closed = await transfer(client, accountId, heir.userId);
  expect(closed.problem).toMatchObject({ status: 409, detail: 'The account is closed.' });
});

test('422: a user of another account, one disabled here or everywhere, and an unknown one get the same response', async () => {
  const owner = await join(service);
  const stranger = await join(service);
  await addMembership(service, stranger.userId);
  const [here, everywhere] = [await addMember(service, owner), await addMember(service, owner)];
  await service.db.query("UPDATE memberships SET status = 'disabled' WHERE user_id = $1", [here.userId]);
  await service.db.query('UPDATE users SET disabled_at = now() WHERE id = $1', [everywhere.userId]);
  for (const userId of [stranger.userId, here.userId, everywhere.userId, newId('user')]) {
    expect((await transfer(owner.client, owner.accountId, userId)).problem).toMatchObject({
      status: 422,
      kind: 'unprocessable',
      detail: `body.user_id: ${userId} is no active user of this account.`,
    });
  }
  expect((await refresh(service, owner.session.refresh_token)).status).toBe(200);
});
