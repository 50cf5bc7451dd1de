import {
  acceptInvitation,
  closeAccount,
  getMe,
  getUser,
  listUsers,
  logout,
  updateAccount,
} from '@attribution/contracts';
import { keyToken, supportToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  atOnce,
  claimsIn,
  count,
  enter,
  fullName,
  join,
  logIn,
  type Person,
  password,
  refresh,
  requireSession,
  signUp,
  startAccountService,
  statusesOf,
} from './support.ts';
import { addGroup } from './support-keys.ts';
import { eventsOf } from './support-ledger.ts';
import { accept, acceptAs, addMember, invite, latestDeed } from './support-members.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService();
  ada = await join(service);
});
afterAll(() => service.stop());

const membersOf = async ({ client }: Person) => (await client.call(listUsers, { query: { limit: 200 } })).body.entries;

test('200: a new user gets a session in the account, is verified and can log in', async () => {
  const { id, email, token } = await invite(service, ada);
  const { status, body } = await accept(service, token, { full_name: ' Grace Hopper ', password });
  expect(status).toBe(200);
  const session = requireSession(body);
  expect(session.account.id).toBe(ada.accountId);
  expect(session.user).toMatchObject({ email, full_name: 'Grace Hopper', email_verified: true });
  expect(claimsIn(service, session.access_token)).toMatchObject({ account: ada.accountId, role: 'member', bil: 'n' });
  expect((await service.client.with({ token: session.access_token }).call(getMe)).body).toEqual(session.user);
  expect((await refresh(service, session.refresh_token)).status).toBe(200);
  expect((await enter(service, email)).account.id).toBe(ada.accountId);
  expect(
    await count(service, 'accounts', 'id IN (SELECT account_id FROM memberships WHERE user_id = $1)', session.user.id),
  ).toBe(1);
  expect(await count(service, 'invitations', 'id = $1 AND accepted_by = $2', id, session.user.id)).toBe(1);
});

test('200: user.joined is published and the acceptance is recorded', async () => {
  const { id, token } = await invite(service, ada);
  const { user } = requireSession((await accept(service, token)).body);
  const data = { account_id: ada.accountId, user_id: user.id };
  expect((await eventsOf(service, ada.accountId, 'user.joined')).at(-1)).toEqual({ type: 'user.joined', data });
  const { rows } = await service.db.query('SELECT action, details FROM audit_log WHERE subject_id = $1 ORDER BY id', [
    user.id,
  ]);
  expect(rows).toContainEqual({ action: 'user.joined', details: { invitation_id: id } });
  expect(await latestDeed(service, user.id)).toMatchObject({ account_id: ada.accountId, actor_id: user.id });
});

test('200: the user has the rights of the invitation', async () => {
  const group = await addGroup(service, ada.accountId);
  const rights = { group_scope: 'selected', services: { campaign: 'w' }, billing: true } as const;
  const bob = await addMember(service, ada, { ...rights, groups: [{ group_id: group, role: 'a' }] });
  const expected = { ...rights, role: 'member', groups: [{ group_id: group, role: 'a' }] };
  expect((await ada.client.call(getUser, { params: { id: bob.userId } })).body).toMatchObject(expected);
  expect(claimsIn(service, bob.session.access_token)).toMatchObject({
    group_scope: 'selected',
    groups: { [group]: 'a' },
    svc: { campaign: 'w' },
  });
});

test('200: an existing user is signed in as that user, and keeps name, password and accounts', async () => {
  const bob = await join(service);
  const { token } = await invite(service, ada, { email: bob.email.toUpperCase() });
  const body = { token, full_name: 'Somebody Else', password: 'eight loud trumpets' };
  const session = requireSession((await bob.client.call(acceptInvitation, { body })).body);
  expect(session).toMatchObject({ user: { id: bob.userId, full_name: fullName }, account: { id: ada.accountId } });
  expect((await enter(service, bob.email)).account.id).toBe(bob.accountId);
  expect((await logIn(service, bob.email, 'eight loud trumpets')).status).toBe(401);
  expect((await membersOf(ada)).map(({ id }) => id)).toContain(bob.userId);
});

test('200: when the account requires MFA, it must be set up before a session is opened', async () => {
  const owner = await join(service);
  await owner.client.call(updateAccount, { params: { id: owner.accountId }, body: { require_mfa: true } });
  const { token } = await invite(service, owner);
  const { body } = await accept(service, token);
  expect(body).toEqual({ mfa_setup_required: true, setup_token: expect.any(String), expires_in: expect.any(Number) });
  expect(await membersOf(owner)).toHaveLength(2);
});

test.each([
  [{ full_name: fullName }, 'body.password: is required of a newcomer.'],
  [{ password }, 'body.full_name: is required of a newcomer.'],
  [{}, 'body.full_name: is required of a newcomer.'],
  [{ full_name: fullName, password: 'short' }, 'body.password: must have at least 8 characters.'],
  [{ full_name: ' ', password }, 'body.full_name: must not be empty, not " ".'],
])('400: a newcomer with %j, who may try again', async (fields, detail) => {
  const { email, token } = await invite(service, ada);
  const { status, problem } = await accept(service, token, fields);
  expect([status, problem?.kind, problem?.detail]).toEqual([400, 'validation-error', detail]);
  expect(await count(service, 'users', 'email_key = $1', email)).toBe(0);
  expect((await accept(service, token)).status).toBe(200);
});

test.each([
  [undefined, 'body.token: is required.'],
  ['', 'body.token: must not be empty.'],
  ['x'.repeat(513), 'body.token: must have at most 512 characters.'],
])('400: token %j', async (token, detail) => {
  const { status, problem } = await accept(service, token as string);
  expect([status, problem?.detail]).toEqual([400, detail]);
});

test('401: the invited user, verified or not, who is not signed in; and a token that is not ours', async () => {
  const detail = 'There is a user with the invited address: sign in as that user.';
  for (const { email } of [await join(service), await signUp(service)]) {
    const { token } = await invite(service, ada, { email });
    const { status, problem, headers } = await accept(service, token);
    expect([status, problem?.kind, problem?.detail]).toEqual([401, 'unauthorized', detail]);
    expect(headers.get('www-authenticate')).toBe('Bearer');
    expect((await acceptAs(service.client.with({ token: 'opaque' }), token)).status).toBe(401);
    await logIn(service, email);
    expect(await count(service, 'invitations', 'email_key = $1 AND accepted_at IS NULL', email)).toBe(1);
  }
});

test('401: a token whose session has ended cannot accept an invitation', async () => {
  const bob = await join(service);
  const { token } = await invite(service, ada, { email: bob.email });
  await bob.client.call(logout);
  const { problem } = await acceptAs(bob.client, token);
  expect(problem).toMatchObject({ status: 401, detail: 'This session has ended. Log in again.' });
  expect(await count(service, 'invitations', 'email_key = $1 AND accepted_at IS NULL', bob.email)).toBe(1);
  expect(
    (await acceptAs(service.client.with({ token: (await enter(service, bob.email)).access_token }), token)).status,
  ).toBe(200);
});

test('403: a caller who is not the invited user, whether the address has a user or not', async () => {
  const [bob, mallory] = [await join(service), await join(service)];
  for (const { token } of [await invite(service, ada, { email: bob.email }), await invite(service, ada)]) {
    const { status, problem } = await acceptAs(mallory.client, token);
    expect([status, problem?.kind, problem?.detail]).toEqual([
      403,
      'forbidden',
      'You are signed in with another address than the invited one.',
    ]);
  }
  expect((await membersOf(ada)).map(({ id }) => id)).not.toContain(mallory.userId);
});

test('403: a disabled user, a key and a support session', async () => {
  const bob = await join(service);
  const { token } = await invite(service, ada, { email: bob.email });
  for (const other of [keyToken({ key: { type: 'api', readonly: false }, role: 'admin' }), supportToken()])
    expect((await acceptAs(service.client.with({ token: other }), token)).problem?.kind).toBe('forbidden');
  await service.db.query('UPDATE users SET disabled_at = now() WHERE id = $1', [bob.userId]);
  expect((await acceptAs(bob.client, token)).problem).toMatchObject({ status: 403, detail: 'This user is disabled.' });
});

test('404: a token without an invitation, before any password is hashed', async () => {
  const { token } = await invite(service, ada);
  for (const other of [token.slice(0, -1), `${token}x`, token.toUpperCase(), 'x'])
    expect((await accept(service, other)).problem?.kind).toBe('not-found');
});

test('409: a user who has joined the account meanwhile', async () => {
  const bob = await join(service);
  const { token } = await invite(service, ada, { email: bob.email });
  await service.db.query(
    "INSERT INTO memberships (user_id, account_id, role, joined_at) VALUES ($1, $2, 'member', now())",
    [bob.userId, ada.accountId],
  );
  expect((await acceptAs(bob.client, token)).problem).toMatchObject({
    status: 409,
    detail: 'You are a user of this account already.',
  });
});

test('409: an account that was closed meanwhile', async () => {
  const owner = await join(service);
  const { email, token } = await invite(service, owner);
  await owner.client.call(closeAccount, { params: { id: owner.accountId } });
  expect((await accept(service, token)).problem).toMatchObject({ status: 409, detail: 'The account is closed.' });
  expect(await count(service, 'users', 'email_key = $1', email)).toBe(0);
});

test('410: an invitation that was accepted or has expired', async () => {
  const { token } = await invite(service, ada);
  await accept(service, token);
  const again = await accept(service, token);
  expect([again.status, again.problem?.kind, again.problem?.detail]).toEqual([
    410,
    'gone',
    'This invitation was accepted.',
  ]);

  const late = await invite(service, await join(service));
  service.clock.advance({ days: 7 });
  expect((await accept(service, late.token)).problem).toMatchObject({
    status: 410,
    detail: 'This invitation has expired: ask for another.',
  });
});

test('20 acceptances of one invitation at once: one succeeds and creates one user', async () => {
  const owner = await join(service);
  const { email, token } = await invite(service, owner);
  expect(statusesOf(await atOnce(() => accept(service, token)))).toEqual({ 200: 1, 410: 19 });
  expect(await count(service, 'users', 'email_key = $1', email)).toBe(1);
  expect(await membersOf(owner)).toHaveLength(2);
  expect(await eventsOf(service, owner.accountId, 'user.joined')).toHaveLength(1);
});

test('20 acceptances by one user at once: one succeeds', async () => {
  const [owner, bob] = [await join(service), await join(service)];
  const { token } = await invite(service, owner, { email: bob.email });
  expect(statusesOf(await atOnce(() => acceptAs(bob.client, token)))).toEqual({ 200: 1, 410: 19 });
  expect(await count(service, 'memberships', 'user_id = $1', bob.userId)).toBe(2);
});
