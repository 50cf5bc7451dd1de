import { endSession, getMe, listSessions, logout } from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  addMembership,
  atOnce,
  claimsIn,
  count,
  enter,
  join,
  refresh,
  rows,
  startAccountService,
  statusesOf,
} from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const sessionsOf = async (client: TestService['client'], query = {}) =>
  (await client.call(listSessions, { query })).body;
const end = (client: TestService['client'], id: string) => client.call(endSession, { params: { id } });
const idIn = (token: string) => `rt_${claimsIn(service, token).sid}`;

test('200: the sessions that have not ended, newest first, including the current one', async () => {
  const { client, email, accountId, session } = await join(service);
  const away = service.client.with({ headers: { 'x-forwarded-for': '198.51.100.9', 'user-agent': 'Mosaic/0.9' } });
  const other = await enter({ ...service, client: away }, email);
  const ended = await enter(service, email);
  await service.client.with({ token: ended.access_token }).call(logout);
  const { entries, next_cursor } = await sessionsOf(client);
  expect(next_cursor).toBeNull();
  const time = expect.stringMatching(/Z$/);
  expect(entries).toEqual([
    {
      id: idIn(other.access_token),
      account_id: accountId,
      current: false,
      ip: '198.51.100.9',
      user_agent: 'Mosaic/0.9',
      created_at: time,
      last_used_at: time,
    },
    expect.objectContaining({ id: idIn(session.access_token), current: true }),
  ]);
});

test('200: in every account of the user, and of no other user', async () => {
  const [ada, bob] = [await join(service), await join(service)];
  const account = await addMembership(service, ada.userId);
  await service.db.query(
    `INSERT INTO sessions (id, user_id, account_id, ip, created_at, last_used_at)
     VALUES ($1, $2, $3, '', $4, $4)`,
    [newUuid(), ada.userId, account, service.clock.now()],
  );
  const accounts = (await sessionsOf(ada.client)).entries.map(({ account_id }) => account_id);
  expect(accounts.sort()).toEqual([ada.accountId, account].sort());
  expect((await sessionsOf(bob.client)).entries).toHaveLength(1);
});

test('200: a refresh updates the last use', async () => {
  const { client, session } = await join(service);
  const [before] = (await sessionsOf(client)).entries;
  service.clock.advance({ minutes: 5 });
  await refresh(service, session.refresh_token);
  const [after] = (await sessionsOf(client)).entries;
  expect(after?.created_at).toBe(before?.created_at);
  expect(Date.parse(after?.last_used_at ?? '') - Date.parse(before?.last_used_at ?? '')).toBeGreaterThan(299_000);
});

test('200: pages list each session once; a last page that is exactly full has no cursor', async () => {
  const { client, email } = await join(service);
  for (let i = 0; i < 4; i++) await enter(service, email);
  const all = (await sessionsOf(client)).entries.map(({ id }) => id);
  const first = await sessionsOf(client, { limit: 2 });
  const second = await sessionsOf(client, { limit: 2, cursor: first.next_cursor ?? '' });
  const third = await sessionsOf(client, { limit: 1, cursor: second.next_cursor ?? '' });
  expect([...first.entries, ...second.entries, ...third.entries].map(({ id }) => id)).toEqual(all);
  expect(third.next_cursor).toBeNull();
});

test('200: a session that can no longer be refreshed is not listed', async () => {
  const { email, userId } = await join(service);
  await service.db.query("UPDATE sessions SET last_used_at = now() - interval '31 days' WHERE user_id = $1", [userId]);
  const { access_token } = await enter(service, email);
  const { entries } = await sessionsOf(service.client.with({ token: access_token }));
  expect(entries.map(({ id }) => id)).toEqual([idIn(access_token)]);
});

test.each([
  ['limit', '0'],
  ['limit', '201'],
  ['limit', 'x'],
  ['cursor', 'abc'],
])('400: %s=%s', async (name, value) => {
  const { client } = await join(service);
  const { problem } = await client.call(listSessions, { query: { [name]: value } });
  expect([problem?.status, problem?.kind]).toEqual([400, 'validation-error']);
  expect(problem?.detail).toContain(`query.${name}: `);
});

test('400: a forged cursor with an invalid id', async () => {
  const { client, email } = await join(service);
  await enter(service, email);
  const { next_cursor } = await sessionsOf(client, { limit: 1 });
  const [scope] = JSON.parse(Buffer.from(next_cursor ?? '', 'base64url').toString()) as string[];
  const cursor = Buffer.from(JSON.stringify([scope, 'x'])).toString('base64url');
  expect((await client.call(listSessions, { query: { cursor } })).problem?.status).toBe(400);
});

test('204: ends that session and no other; its access token is valid until it expires', async () => {
  const { client, email, session } = await join(service);
  const other = await enter(service, email);
  const { status, body } = await end(client, idIn(other.access_token));
  expect([status, body]).toEqual([204, undefined]);
  expect((await refresh(service, other.refresh_token)).status).toBe(401);
  expect((await refresh(service, session.refresh_token)).status).toBe(200);
  expect((await service.client.with({ token: other.access_token }).call(getMe)).status).toBe(200);
});

test('204: also the current session', async () => {
  const { client, session } = await join(service);
  expect((await end(client, idIn(session.access_token))).status).toBe(204);
  expect((await refresh(service, session.refresh_token)).status).toBe(401);
});

test('204 twice: the first end stays', async () => {
  const { client, email } = await join(service);
  const id = idIn((await enter(service, email)).access_token);
  await end(client, id);
  const read = () => rows(service, 'SELECT ended_at, end_reason FROM sessions WHERE id = $1', id.slice(3));
  const first = await read();
  service.clock.advance({ seconds: 5 });
  expect((await end(client, id)).status).toBe(204);
  expect(await read()).toEqual(first);
});

test('20 requests to end one session at once, and a refresh: one is recorded, and no new token works', async () => {
  const { client, email, userId } = await join(service);
  const other = await enter(service, email);
  const id = idIn(other.access_token);
  const [renewed, answers] = await Promise.all([refresh(service, other.refresh_token), atOnce(() => end(client, id))]);
  expect(statusesOf(answers)).toEqual({ 204: 20 });
  expect(await count(service, 'audit_log', "action = 'session.ended' AND subject_id = $1", id)).toBe(1);
  const latest = renewed.status === 200 ? renewed.body.refresh_token : other.refresh_token;
  expect((await refresh(service, latest)).status).toBe(401);
  expect(await count(service, 'sessions', 'user_id = $1 AND ended_at IS NULL', userId)).toBe(1);
});

test('404: another user’s session, an unknown one and an invalid id get the same response', async () => {
  const [ada, bob] = [await join(service), await join(service)];
  const answers = await Promise.all(
    [idIn(bob.session.access_token), `rt_${newUuid()}`, 'rt_1', 'x', ada.session.refresh_token.split('.')[0] ?? ''].map(
      async (id) => (await end(ada.client, id)).problem,
    ),
  );
  for (const problem of answers) expect(problem).toEqual(answers[0]);
  expect(answers[0]).toMatchObject({ status: 404, kind: 'not-found' });
  expect((await refresh(service, bob.session.refresh_token)).status).toBe(200);
});
