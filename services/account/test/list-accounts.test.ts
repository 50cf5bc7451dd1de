import { getAccount, listAccounts } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { personToken, supportToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addMembership, getRaw, join, startAccountService } from './support.ts';
import { addMember } from './support-members.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const list = async (client: TestService['client'], query = {}) => (await client.call(listAccounts, { query })).body;

test('200: the caller’s memberships, the earliest joined first, closed and disabled ones too', async () => {
  const { client, userId, session } = await join(service);
  const late = await addMembership(service, userId, { role: 'admin', joinedAt: '2020-02-01T00:00:00Z' });
  const early = await addMembership(service, userId, {
    ...{ status: 'disabled', accountStatus: 'closed', joinedAt: '2020-01-01T00:00:00Z' },
  });
  await join(service);
  const { entries, next_cursor } = await list(client);
  const another = { name: 'Another', account_type: 'brand', require_mfa: false, created_at: expect.any(String) };
  expect(entries).toEqual([
    {
      account: { id: early, status: 'closed', ...another },
      role: 'member',
      status: 'disabled',
      joined_at: '2020-01-01T00:00:00.000Z',
    },
    {
      account: { id: late, status: 'active', ...another },
      role: 'admin',
      status: 'active',
      joined_at: '2020-02-01T00:00:00.000Z',
    },
    { account: session.account, role: 'owner', status: 'active', joined_at: expect.any(String) },
  ]);
  expect(next_cursor).toBeNull();
});

test('200: pages list each account once, even if several were joined at the same time', async () => {
  const { client, userId } = await join(service);
  for (let i = 0; i < 4; i++) await addMembership(service, userId);
  const all = (await list(client)).entries.map(({ account }) => account.id);
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof list>> = await list(client, { limit: 2, ...(cursor && { cursor }) });
    seen.push(...page.entries.map(({ account }) => account.id));
    cursor = page.next_cursor;
  } while (cursor);
  expect(seen).toEqual(all);
  expect(all).toHaveLength(5);
});

test.each([
  ['limit', '0'],
  ['limit', '201'],
  ['cursor', 'abc'],
])('400: %s=%s', async (name, value) => {
  const { client } = await join(service);
  const { problem } = await client.call(listAccounts, { query: { [name]: value } });
  expect(problem).toMatchObject({ status: 400, detail: expect.stringContaining(`query.${name}: `) });
});

test.each([8.64e15 + 1, -1])('400: a cursor with a time that no day has: %d', async (time) => {
  const { client, userId } = await join(service);
  await addMembership(service, userId);
  const { next_cursor } = await list(client, { limit: 1 });
  const [scope] = JSON.parse(Buffer.from(next_cursor ?? '', 'base64url').toString()) as string[];
  const cursor = Buffer.from(JSON.stringify([scope, time, 'acc_1'])).toString('base64url');
  expect((await client.call(listAccounts, { query: { cursor } })).problem?.status).toBe(400);
});

test('200: the session’s account, for its owner, a member of it, and support', async () => {
  const owner = await join(service);
  const member = await addMember(service, owner);
  const support = service.client.with({ token: supportToken({ account: owner.accountId }) });
  for (const client of [owner.client, member.client, support]) {
    const { status, body } = await client.call(getAccount, { params: { id: owner.accountId } });
    expect([status, body]).toEqual([200, owner.session.account]);
  }
});

test('404: any other account, including the user’s own, gets the same response as an id that is not one', async () => {
  const { session, userId } = await join(service);
  const own = await addMembership(service, userId, { role: 'owner' });
  const stranger = await join(service);
  const answers = await Promise.all(
    [own, stranger.accountId, newId('account'), 'acc_1', 'x'].map((id) =>
      getRaw(service, `/v2/accounts/${id}`, session.access_token),
    ),
  );
  expect(answers[0]?.status).toBe(404);
  for (const answer of answers) expect(answer).toEqual(answers[0]);
});

test('403: a person without access to the account service', async () => {
  const { userId, accountId } = await join(service);
  const token = personToken({ sub: userId, account: accountId, svc: { campaign: 'w' } });
  const { problem } = await service.client.with({ token }).call(getAccount, { params: { id: accountId } });
  expect(problem).toMatchObject({ status: 403, detail: 'This credential has no access to account.' });
});
