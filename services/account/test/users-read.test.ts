import { getUser, listUsers, updateUser } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { personToken, sendRaw, supportToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addMembership, fullName, join, type Person, startAccountService } from './support.ts';
import { addGroup } from './support-keys.ts';
import { addMember } from './support-members.ts';

let service: TestService;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  service = await startAccountService();
  ada = await join(service);
  bob = await addMember(service, ada);
});
afterAll(() => service.stop());

const list = (person: Pick<Person, 'client'>, query: { limit?: number; cursor?: string } = {}) =>
  person.client.call(listUsers, { query });
const idsOf = (entries: readonly { id: string }[]) => entries.map(({ id }) => id);

test('200: all users of the account in order of creation, with their rights', async () => {
  const { status, body } = await list(ada);
  expect(status).toBe(200);
  const common = {
    full_name: fullName,
    email_verified: true,
    mfa_enabled: false,
    group_scope: 'all',
    groups: [],
    services: null,
    status: 'active',
    joined_at: expect.stringMatching(/Z$/),
  };
  expect(body).toEqual({
    entries: [
      { ...common, id: ada.userId, email: ada.email, role: 'owner', billing: true },
      { ...common, id: bob.userId, email: bob.email, role: 'member', billing: false },
    ],
    next_cursor: null,
  });
});

test('200: one user, as in the list', async () => {
  const group = await addGroup(service, ada.accountId);
  const change = { group_scope: 'selected' as const, groups: [group], services: { '*': 'r' as const } };
  await ada.client.call(updateUser, { params: { id: bob.userId }, body: change });
  const { entries } = (await list(ada)).body;
  for (const entry of entries)
    expect((await ada.client.call(getUser, { params: { id: entry.id } })).body).toEqual(entry);
  expect(entries[1]).toMatchObject({ groups: [{ group_id: group, role: 'm' }], services: { '*': 'r' } });
});

test('200: a support session sees the users as an admin does', async () => {
  const { body } = await list(ada);
  const client = service.client.with({ token: supportToken({ account: ada.accountId }) });
  expect((await list({ client })).body).toEqual(body);
  expect((await client.call(getUser, { params: { id: ada.userId } })).body).toEqual(body.entries[0]);
});

test('200: a member sees names and roles of others, and everything of itself', async () => {
  const owner = await join(service);
  const member = await addMember(service, owner);
  const [first, second] = (await list(owner)).body.entries;
  const seen = {
    id: owner.userId,
    full_name: fullName,
    role: 'owner',
    group_scope: 'all',
    groups: [],
    status: 'active',
    joined_at: first?.joined_at,
  };
  expect((await list(member)).body.entries).toEqual([seen, second]);
  expect((await member.client.call(getUser, { params: { id: owner.userId } })).body).toEqual(seen);
});

test('200: a narrowed member sees itself and those with whom it shares a group; the others are 404', async () => {
  const owner = await join(service);
  const [shared, other] = [await addGroup(service, owner.accountId), await addGroup(service, owner.accountId)];
  const [near, far] = [await addMember(service, owner), await addMember(service, owner)];
  const give = (person: Person, groups: string[]) =>
    owner.client.call(updateUser, { params: { id: person.userId }, body: { group_scope: 'selected', groups } });
  await give(near, [shared, other]);
  await give(far, [other]);
  const me = await addMember(service, owner);
  const as = (groups: readonly string[]) => {
    const claims = {
      group_scope: 'selected' as const,
      groups: Object.fromEntries(groups.map((id) => [id, 'm' as const])),
    };
    return service.client.with({
      token: personToken({ sub: me.userId, account: owner.accountId, role: 'member', ...claims }),
    });
  };
  const { entries } = (await list({ client: as([shared]) })).body;
  expect(idsOf(entries)).toEqual([owner.userId, near.userId, me.userId]);
  expect(entries[1]?.groups).toEqual([{ group_id: shared, role: 'm' }]);
  expect(idsOf((await list({ client: as([]) })).body.entries)).toEqual([me.userId]);
  const get = (groups: readonly string[], id: string) => as(groups).call(getUser, { params: { id } });
  expect((await get([shared], far.userId)).status).toBe(404);
  expect((await get([], owner.userId)).status).toBe(404);
  expect((await get([shared], near.userId)).status).toBe(200);
});

test('200: a user in several accounts, with the rights in this one', async () => {
  const other = await addMembership(service, bob.userId, { role: 'admin' });
  const client = service.client.with({ token: personToken({ sub: bob.userId, account: other, role: 'admin' }) });
  expect((await list({ client })).body.entries).toMatchObject([{ id: bob.userId, role: 'admin', group_scope: 'all' }]);
  expect((await ada.client.call(getUser, { params: { id: bob.userId } })).body.role).toBe('member');
});

test('200: pages without gaps or repetitions; a last page that is exactly full has no next cursor', async () => {
  const owner = await join(service);
  const members = [owner.userId];
  for (let i = 0; i < 5; i++) members.push((await addMember(service, owner)).userId);
  const pages: string[][] = [];
  let cursor: string | null | undefined;
  do {
    const { body } = await list(owner, { limit: 2, ...(cursor && { cursor }) });
    pages.push(idsOf(body.entries));
    cursor = body.next_cursor;
  } while (cursor);
  expect(pages.map(({ length }) => length)).toEqual([2, 2, 2]);
  expect(pages.flat()).toEqual(members);
});

test.each([
  ['limit=0', 'query.limit: must be at least 1'],
  ['limit=201', 'query.limit: must be at most 200'],
  ['cursor=abc', 'query.cursor: is not a next_cursor of this list with these filters.'],
])('400: ?%s', async (query, detail) => {
  const { status, text } = await sendRaw(service, 'GET', `/v2/users?${query}`, ada.session.access_token);
  expect([status, JSON.parse(text).type]).toEqual([400, 'https://problems.test/validation-error']);
  expect(JSON.parse(text).detail).toContain(detail);
});

test.each(['GET', 'PATCH', 'DELETE'])(
  '404: %s sends the same response byte for byte for every user who is not in the account',
  async (method) => {
    const stranger = await join(service);
    const send = (id: string) =>
      sendRaw(service, method, `/v2/users/${id}`, ada.session.access_token, method === 'PATCH' ? '{}' : undefined);
    const unknown = await send(newId('user'));
    expect(unknown.status).toBe(404);
    for (const id of [
      stranger.userId,
      stranger.accountId,
      ada.userId.toUpperCase(),
      'usr_1',
      '1',
      '%20',
      `${ada.userId}%00`,
    ])
      expect(await send(id)).toEqual(unknown);
  },
);
