import { getMe, listSessions, refreshSession } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { atOnce, claimsIn, enter, join, refresh, rows, startAccountService, statusesOf } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const refused = 'The refresh token is unknown, expired or was used before. Log in again.';

async function expectRefused(token: string): Promise<void> {
  const { status, problem, headers } = await refresh(service, token);
  expect([status, problem?.kind, problem?.detail]).toEqual([401, 'unauthorized', refused]);
  expect(headers.get('www-authenticate')).toBe('Bearer');
}

test('200: two new tokens and nothing else, and the access token works', async () => {
  const { session, userId } = await join(service);
  const { status, body } = await refresh(service, session.refresh_token);
  expect(status).toBe(200);
  expect(Object.keys(body).sort()).toEqual(['access_token', 'refresh_token']);
  expect(body.refresh_token).not.toBe(session.refresh_token);
  const me = await service.client.with({ token: body.access_token }).call(getMe);
  expect(me.body.id).toBe(userId);
});

test('200: the tokens of a session rotate any number of times, and stay in that session', async () => {
  const { session } = await join(service);
  const { sid } = claimsIn(service, session.access_token);
  let token = session.refresh_token;
  for (let i = 0; i < 5; i++) {
    const { body } = await refresh(service, token);
    expect(claimsIn(service, body.access_token).sid).toBe(sid);
    token = body.refresh_token;
  }
});

test('200: unknown fields of the body are ignored', async () => {
  const { session } = await join(service);
  const body = { refresh_token: session.refresh_token, account_id: 'acc_1' };
  expect((await service.client.call(refreshSession, { body })).status).toBe(200);
});

test('200: changes since then appear in the new access token', async () => {
  const { session, userId } = await join(service);
  await service.db.query("UPDATE memberships SET role = 'member', billing = false WHERE user_id = $1", [userId]);
  const { body } = await refresh(service, session.refresh_token);
  expect(claimsIn(service, session.access_token)).toMatchObject({ role: 'owner' });
  expect(claimsIn(service, body.access_token)).toMatchObject({ role: 'member', bil: 'n' });
});

test('401: a token reused within 10 s of its rotation, which ends nothing', async () => {
  const { session } = await join(service);
  const { body: second } = await refresh(service, session.refresh_token);
  service.clock.advance({ seconds: 5 });
  await expectRefused(session.refresh_token);
  const { body: third } = await refresh(service, second.refresh_token);
  await expectRefused(session.refresh_token);
  expect((await refresh(service, third.refresh_token)).status).toBe(200);
});

test('401: a token reused later, which revokes the whole family', async () => {
  const { session } = await join(service);
  const { body: second } = await refresh(service, session.refresh_token);
  const { body: third } = await refresh(service, second.refresh_token);
  service.clock.advance({ seconds: 11 });
  await expectRefused(session.refresh_token);
  await expectRefused(third.refresh_token);
  const { sid } = claimsIn(service, session.access_token);
  expect(await rows(service, 'SELECT end_reason FROM sessions WHERE id = $1', sid)).toEqual([
    { end_reason: 'refresh_token_reused' },
  ]);
});

test('401: reusing one session’s token does not affect the user’s other sessions', async () => {
  const { email, session } = await join(service);
  const other = await enter(service, email);
  await refresh(service, session.refresh_token);
  service.clock.advance({ seconds: 11 });
  await expectRefused(session.refresh_token);
  await expectRefused(session.refresh_token);
  expect((await refresh(service, other.refresh_token)).status).toBe(200);
});

test('20 parallel uses of one token: one succeeds, and its session continues', async () => {
  const { session } = await join(service);
  const answers = await atOnce(() => refresh(service, session.refresh_token));
  expect(statusesOf(answers)).toEqual({ 200: 1, 401: 19 });
  const winner = answers.find(({ status }) => status === 200);
  expect((await refresh(service, winner?.body.refresh_token ?? '')).status).toBe(200);
});

test('only hashes of refresh tokens are stored', async () => {
  const { session } = await join(service);
  const [id, secret] = session.refresh_token.split('.');
  const [row] = await rows<{ hash: string }>(service, 'SELECT * FROM refresh_tokens WHERE id = $1', id);
  expect(row?.hash).toMatch(/^[0-9a-f]{64}$/);
  expect(JSON.stringify(row)).not.toContain(secret);
});

test('a refresh token is valid for 30 days from its own issue', async () => {
  const [early, late] = [await join(service), await join(service)];
  service.clock.advance({ days: 29, minutes: 23 * 60 + 59 });
  const { status, body } = await refresh(service, early.session.refresh_token);
  expect(status).toBe(200);
  service.clock.advance({ minutes: 1 });
  await expectRefused(late.session.refresh_token);
  expect((await refresh(service, body.refresh_token)).status).toBe(200);
});

test('a session lasts 90 days at most, however often it is refreshed', async () => {
  const { session } = await join(service);
  const id = `rt_${claimsIn(service, session.access_token).sid}`;
  let token = session.refresh_token;
  for (let i = 0; i < 3; i++) {
    service.clock.advance({ days: 29 });
    token = (await refresh(service, token)).body.refresh_token;
  }
  service.clock.advance({ days: 2, minutes: 23 * 60 + 59 });
  const { body } = await refresh(service, token);
  const last = service.client.with({ token: body.access_token });
  const listed = async () => (await last.call(listSessions)).body.entries.map((entry) => entry.id);
  expect(await listed()).toEqual([id]);
  service.clock.advance({ minutes: 1 });
  expect(await listed()).toEqual([]);
  await expectRefused(body.refresh_token);
});
