import { getMe, getMyPermissions } from '@attribution/contracts';
import { keyToken, personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fullName, join, startAccountService } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const as = (token: string) => service.client.with({ token });

test('200: the caller', async () => {
  const { client, email, userId } = await join(service);
  const { status, body } = await client.call(getMe);
  expect(status).toBe(200);
  expect(body).toEqual({
    id: userId,
    email,
    full_name: fullName,
    email_verified: true,
    mfa_enabled: false,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
});

test('200: from the database, not from the token', async () => {
  const { client, userId } = await join(service);
  await service.db.query("UPDATE users SET full_name = 'Ada King', mfa_enabled_at = now() WHERE id = $1", [userId]);
  expect((await client.call(getMe)).body).toMatchObject({ full_name: 'Ada King', mfa_enabled: true });
});

test('401: a user who no longer exists', async () => {
  const { status, problem } = await as(personToken()).call(getMe);
  expect([status, problem?.kind, problem?.detail]).toEqual([401, 'unauthorized', 'This user does not exist any more.']);
});

describe.each([
  ['/v2/users/me', getMe],
  ['/v2/users/me/permissions', getMyPermissions],
] as const)('%s', (_path, endpoint) => {
  test('401: without a token, and with an invalid one', async () => {
    for (const client of [service.client, as('abc'), as(`${personToken()}x`)]) {
      const { status, problem, headers } = await client.call(endpoint);
      expect([status, problem?.kind]).toEqual([401, 'unauthorized']);
      expect(problem?.detail).toBe('The bearer token is missing, invalid or expired.');
      expect(headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  test('403: an API key, whatever it may do', async () => {
    for (const key of [
      { type: 'api', readonly: true },
      { type: 'api', readonly: false },
    ]) {
      const { status, problem } = await as(keyToken({ role: 'admin', key })).call(endpoint);
      expect([status, problem?.kind]).toEqual([403, 'forbidden']);
      expect(problem?.detail).toBe('An API key cannot be used here: sign in as a person.');
    }
  });

  test('200: without access to any service, because it is about the caller only', async () => {
    const { userId, accountId } = await join(service);
    const token = personToken({ sub: userId, account: accountId, role: 'member', svc: {} });
    expect((await as(token).call(endpoint)).status).toBe(200);
  });
});
