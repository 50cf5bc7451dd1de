import { endSession, getMyPermissions, logout, switchAccount } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  addMembership,
  atOnce,
  claimsIn,
  count,
  enter,
  join,
  refresh,
  requireSession,
  startAccountService,
  statusesOf,
} from './support.ts';
import { joinWithMfa } from './support-mfa.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const switchTo = (client: TestService['client'], account_id: string, more: object = {}) =>
  client.call(switchAccount, { body: { account_id, ...more } });
const set = (table: 'users' | 'accounts', column: string, id: string) =>
  service.db.query(`UPDATE ${table} SET ${column} WHERE id = $1`, [id]);
const ended = { status: 401, kind: 'unauthorized', detail: 'This session has ended. Log in again.' };

test('200: a session in the other account with the rights there; the current one continues', async () => {
  const { client, userId, session } = await join(service);
  const other = await addMembership(service, userId, { role: 'admin' });
  const { status, body } = await switchTo(client, other, { role: 'owner', user_id: 'usr_1' });
  expect(status).toBe(200);
  const opened = requireSession(body);
  expect(opened.account).toMatchObject({ id: other, name: 'Another' });
  expect(opened.user.id).toBe(userId);
  const claims = claimsIn(service, opened.access_token);
  expect(claims).toMatchObject({ sub: userId, account: other, role: 'admin', account_type: 'brand' });
  expect(claims.sid).not.toBe(claimsIn(service, session.access_token).sid);
  const there = service.client.with({ token: opened.access_token });
  expect((await there.call(getMyPermissions)).body.role).toBe('admin');
  expect((await refresh(service, opened.refresh_token)).status).toBe(200);
  expect((await refresh(service, session.refresh_token)).status).toBe(200);
});

test('200: to the current account, and to a suspended one', async () => {
  const { client, accountId, userId } = await join(service);
  expect((await switchTo(client, accountId)).status).toBe(200);
  const suspended = await addMembership(service, userId, { accountStatus: 'suspended' });
  expect((await switchTo(client, suspended)).status).toBe(200);
});

test('20 at once: each opens its own session', async () => {
  const { client, userId } = await join(service);
  const other = await addMembership(service, userId);
  const answers = await atOnce(() => switchTo(client, other));
  expect(statusesOf(answers)).toEqual({ 200: 20 });
  expect(await count(service, 'sessions', 'account_id = $1', other)).toBe(20);
});

test('200: an account that requires MFA requires setting it up first, and opens no session', async () => {
  const { client, userId } = await join(service);
  const other = await addMembership(service, userId);
  await set('accounts', 'require_mfa = true', other);
  const { body } = await switchTo(client, other);
  expect(body).toEqual({ mfa_setup_required: true, setup_token: expect.any(String), expires_in: 900 });
  const token = 'setup_token' in body ? body.setup_token : '';
  expect(claimsIn(service, token, 'mfa-setup+jwt')).toMatchObject({ sub: userId, account: other });
  expect(await count(service, 'sessions', 'account_id = $1', other)).toBe(0);
});

test('200: a user with MFA enters an account that requires it, because the session has passed it', async () => {
  const { client, userId } = await joinWithMfa(service);
  const other = await addMembership(service, userId);
  await set('accounts', 'require_mfa = true', other);
  expect(requireSession((await switchTo(client, other)).body).account.id).toBe(other);
});

test.each([
  ['body.account_id: is required.', {}],
  ['body.account_id: must be text, not 7.', { account_id: 7 }],
  ['body.account_id: must be an account id (acc_…), not "acc_1".', { account_id: 'acc_1' }],
])('400: %s', async (detail, body) => {
  const { client } = await join(service);
  const { problem } = await client.call(switchAccount, { body: body as never });
  expect(problem).toMatchObject({ status: 400, kind: 'validation-error', detail });
});

test('401: a session that has ended cannot open another, though its token still works elsewhere', async () => {
  const { client, email, accountId, session } = await join(service);
  const other = await enter(service, email);
  await client.call(endSession, { params: { id: `rt_${claimsIn(service, other.access_token).sid}` } });
  const stolen = service.client.with({ token: other.access_token });
  expect((await switchTo(stolen, accountId)).problem).toMatchObject(ended);
  expect((await switchTo(stolen, newId('account'))).problem).toMatchObject(ended);
  await refresh(service, session.refresh_token);
  service.clock.advance({ seconds: 11 }); // A refresh token that comes again within 10 s ends nothing.
  await refresh(service, session.refresh_token);
  expect((await switchTo(client, accountId)).problem).toMatchObject(ended);
});

test('a switch and a logout at once: in any order, one of them sees the other', async () => {
  const { client, userId, accountId } = await join(service);
  const [switched, out] = await Promise.all([switchTo(client, accountId), client.call(logout)]);
  expect(out.status).toBe(204);
  const open = await count(service, 'sessions', 'user_id = $1 AND ended_at IS NULL', userId);
  expect([switched.status, open]).toEqual(switched.status === 200 ? [200, 1] : [401, 0]);
});

test('401: a user who is disabled or deleted', async () => {
  const { client, accountId, userId } = await join(service);
  await set('users', 'disabled_at = now()', userId);
  expect((await switchTo(client, accountId)).problem).toMatchObject({ status: 401, detail: 'This user is disabled.' });
  const stranger = service.client.with({ token: personToken() });
  expect((await switchTo(stranger, accountId)).problem).toMatchObject(ended);
});

test('403: a closed account', async () => {
  const { client, userId } = await join(service);
  const closed = await addMembership(service, userId, { accountStatus: 'closed' });
  const { problem } = await switchTo(client, closed);
  expect(problem).toMatchObject({ status: 403, kind: 'forbidden', detail: 'The account is closed.' });
});

test('404: an account that the user is not in or is disabled in, and an unknown one, get the same response', async () => {
  const { client, userId } = await join(service);
  const stranger = await join(service);
  const disabled = await addMembership(service, userId, { status: 'disabled' });
  const closedToo = await addMembership(service, userId, { status: 'disabled', accountStatus: 'closed' });
  const answers = await Promise.all(
    [stranger.accountId, disabled, closedToo, newId('account')].map(async (id) => (await switchTo(client, id)).problem),
  );
  expect(answers[0]).toMatchObject({ status: 404, kind: 'not-found' });
  for (const problem of answers) expect(problem).toEqual(answers[0]);
});
