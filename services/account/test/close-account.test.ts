import { closeAccount, getMe, listSessions, switchAccount } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  addMembership,
  atOnce,
  count,
  enter,
  join,
  logIn,
  refresh,
  rows,
  startAccountService,
  statusesOf,
} from './support.ts';
import { exchange, makeKey } from './support-keys.ts';
import { addMember } from './support-members.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const close = (client: TestService['client'], id: string) => client.call(closeAccount, { params: { id } });
const openIn = (accountId: string) => count(service, 'sessions', 'account_id = $1 AND ended_at IS NULL', accountId);
const eventsOf = (accountId: string) =>
  service.published.filter((event) => event.account_id === accountId && event.type === 'account.closed');

test('200: every session in it ends, of every user, and account.closed is published once', async () => {
  const owner = await join(service);
  const member = await addMember(service, owner);
  const { status, body } = await close(owner.client, owner.accountId);
  expect([status, body]).toEqual([200, { ...owner.session.account, status: 'closed' }]);
  for (const { session } of [owner, member]) expect((await refresh(service, session.refresh_token)).status).toBe(401);
  expect(
    await rows(service, 'SELECT DISTINCT end_reason FROM sessions WHERE account_id = $1', owner.accountId),
  ).toEqual([{ end_reason: 'account_closed' }]);
  await eventually(() => expect(eventsOf(owner.accountId)).toHaveLength(1));
  expect(eventsOf(owner.accountId)[0]?.data).toEqual({ account_id: owner.accountId });
});

test('200: sessions of its users in other accounts continue', async () => {
  const { client, email, userId, accountId } = await join(service);
  const other = await addMembership(service, userId);
  const switched = await client.call(switchAccount, { body: { account_id: other } });
  await close(client, accountId);
  expect(await openIn(other)).toBe(1);
  const token = 'refresh_token' in switched.body ? switched.body.refresh_token : '';
  expect((await refresh(service, token)).status).toBe(200);
  expect((await enter(service, email)).account.id).toBe(other);
});

test('200: nobody can log in or switch to it any more, and its API keys give no tokens', async () => {
  const { client, email, accountId } = await join(service);
  const key = await makeKey(client);
  await close(client, accountId);
  expect((await logIn(service, email)).problem).toMatchObject({
    status: 403,
    detail: expect.stringContaining('The account is closed'),
  });
  expect((await exchange(service, key)).status).toBe(403);
  expect((await client.call(switchAccount, { body: { account_id: accountId } })).status).toBe(401);
  // An issued token is valid until it expires.
  expect((await client.call(getMe)).status).toBe(200);
  expect((await client.call(listSessions)).body.entries).toEqual([]);
});

test('20 at once: one closes it, and one event is published', async () => {
  const { client, accountId } = await join(service);
  const answers = await atOnce(() => close(client, accountId));
  expect(statusesOf(answers)).toEqual({ 200: 1, 409: 19 });
  expect(await count(service, 'audit_log', "account_id = $1 AND action = 'account.closed'", accountId)).toBe(1);
  await eventually(async () => expect(await count(service, 'outbox')).toBe(0));
  expect(eventsOf(accountId)).toHaveLength(1);
});

test('20 logins while it closes: none leaves a session open in it', async () => {
  const { client, email, accountId } = await join(service);
  const [closed] = await Promise.all([close(client, accountId), atOnce(() => logIn(service, email))]);
  expect(closed.status).toBe(200);
  expect(await openIn(accountId)).toBe(0);
});

test.each(['admin', 'member'] as const)('403: with the role %s', async (role) => {
  const owner = await join(service);
  const { client } = await addMember(service, owner, { role });
  expect((await close(client, owner.accountId)).problem?.status).toBe(403);
  expect(await openIn(owner.accountId)).toBe(2);
});

test('403: a former owner whose token still says owner', async () => {
  const { client, accountId, userId } = await join(service);
  await service.db.query("UPDATE memberships SET role = 'admin' WHERE user_id = $1", [userId]);
  const { problem } = await close(client, accountId);
  expect(problem).toMatchObject({ status: 403, detail: 'You are not the owner of this account any more.' });
  expect(await count(service, 'accounts', "id = $1 AND status = 'active'", accountId)).toBe(1);
});

test('404: another account gets the same response as one that does not exist, whoever owns it', async () => {
  const [ada, bob] = [await join(service), await join(service)];
  const own = await addMembership(service, ada.userId, { role: 'owner' });
  const answers = await Promise.all(
    [bob.accountId, own, newId('account')].map(async (id) => (await close(ada.client, id)).problem),
  );
  expect(answers[0]).toMatchObject({ status: 404, kind: 'not-found' });
  for (const problem of answers) expect(problem).toEqual(answers[0]);
  expect(await count(service, 'accounts', "id = ANY($1) AND status = 'closed'", [bob.accountId, own])).toBe(0);
});

test('409: an account that is already closed', async () => {
  const { client, accountId } = await join(service);
  await close(client, accountId);
  expect((await close(client, accountId)).problem).toMatchObject({ status: 409, detail: 'The account is closed.' });
});
