import { getMe, logout } from '@attribution/contracts';
import { keyToken, personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { claimsIn, count, enter, join, refresh, rows, startAccountService } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const as = (token: string) => service.client.with({ token });

test('204: ends the session of the token, and no other', async () => {
  const { email, session } = await join(service);
  const other = await enter(service, email);
  const { status, body } = await as(session.access_token).call(logout);
  expect([status, body]).toEqual([204, undefined]);
  expect((await refresh(service, session.refresh_token)).status).toBe(401);
  expect((await refresh(service, other.refresh_token)).status).toBe(200);
  const { sid } = claimsIn(service, session.access_token);
  expect(await rows(service, 'SELECT end_reason FROM sessions WHERE id = $1', sid)).toEqual([{ end_reason: 'logout' }]);
});

test('204: an access token from before a refresh ends the session as well, with all its refresh tokens', async () => {
  const { session } = await join(service);
  const { body } = await refresh(service, session.refresh_token);
  await as(session.access_token).call(logout);
  expect((await refresh(service, body.refresh_token)).status).toBe(401);
});

test('204 twice: the access token is valid until it expires, and the first end of the session stays', async () => {
  const { session } = await join(service);
  const { sid } = claimsIn(service, session.access_token);
  await as(session.access_token).call(logout);
  const first = await rows(service, 'SELECT ended_at FROM sessions WHERE id = $1', sid);
  service.clock.advance({ minutes: 1 });
  expect((await as(session.access_token).call(logout)).status).toBe(204);
  expect(await rows(service, 'SELECT ended_at FROM sessions WHERE id = $1', sid)).toEqual(first);
  expect((await as(session.access_token).call(getMe)).status).toBe(200);
});

test('204: another user’s session is not ended by naming it', async () => {
  const [ada, bob] = [await join(service), await join(service)];
  const { sid } = claimsIn(service, ada.session.access_token);
  const forged = personToken({ sub: bob.userId, account: bob.accountId, ...(sid && { sid }) });
  expect((await as(forged).call(logout)).status).toBe(204);
  expect((await refresh(service, ada.session.refresh_token)).status).toBe(200);
});

test('204: a key with write access ends nothing', async () => {
  const { accountId } = await join(service);
  const before = await count(service, 'sessions', 'ended_at IS NULL');
  const token = keyToken({ account: accountId, role: 'admin', key: { type: 'api', readonly: false } });
  expect((await as(token).call(logout)).status).toBe(204);
  expect(await count(service, 'sessions', 'ended_at IS NULL')).toBe(before);
});

test.each([
  ['a read-only key', keyToken({ role: 'admin', key: { type: 'api', readonly: true } })],
  [
    'a viewer key, which is read-only whatever it says',
    keyToken({ role: 'viewer', key: { type: 'api', readonly: false } }),
  ],
])('403: %s', async (_what, token) => {
  const { status, problem } = await as(token).call(logout);
  expect([status, problem?.kind, problem?.detail]).toEqual([403, 'forbidden', 'This API key is read-only.']);
});

test('204: a person without access to any service may still log out', async () => {
  const { userId, accountId } = await join(service);
  expect(
    (await as(personToken({ sub: userId, account: accountId, role: 'member', svc: {} })).call(logout)).status,
  ).toBe(204);
});

// This test is the last one, because tokens that tests sign do not follow the clock.
test('401: without a token, with one that has expired, and with a refresh token', async () => {
  const { session } = await join(service);
  const refreshToken = await as(session.refresh_token).call(logout);
  service.clock.advance({ minutes: 15 });
  for (const answer of [await service.client.call(logout), await as(session.access_token).call(logout), refreshToken]) {
    expect([answer.status, answer.problem?.kind]).toEqual([401, 'unauthorized']);
    expect(answer.problem?.detail).toBe('The bearer token is missing, invalid or expired.');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  }
});
