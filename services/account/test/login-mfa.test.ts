import { getMe } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addMembership, claimsIn, count, join, logIn, refresh, startAccountService } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const set = (table: 'users' | 'accounts', column: string, id: string) =>
  service.db.query(`UPDATE ${table} SET ${column} WHERE id = $1`, [id]);

test('200: a user who has set up MFA gets the challenge envelope and no session', async () => {
  const { email, userId, accountId } = await join(service);
  await set('users', 'mfa_enabled_at = now()', userId);
  const { status, body } = await logIn(service, email);
  expect(status).toBe(200);
  expect(body).toEqual({ mfa_challenge: true, challenge_token: expect.any(String), expires_in: 300 });
  const token = 'challenge_token' in body ? body.challenge_token : '';
  const { iat, exp, ...claims } = claimsIn(service, token, 'mfa-challenge+jwt');
  expect(claims).toMatchObject({ sub: userId, account: accountId });
  expect(exp - iat).toBe(300);
  expect(await count(service, 'sessions', 'user_id = $1', userId)).toBe(1);
});

test.each(['users', 'accounts'] as const)(
  '200: the setup envelope when %s require MFA and it is not set up',
  async (table) => {
    const { email, userId, accountId } = await join(service);
    await set(table, 'require_mfa = true', table === 'users' ? userId : accountId);
    const { status, body } = await logIn(service, email);
    expect(status).toBe(200);
    expect(body).toEqual({ mfa_setup_required: true, setup_token: expect.any(String), expires_in: 900 });
    const token = 'setup_token' in body ? body.setup_token : '';
    const { iat, exp, ...claims } = claimsIn(service, token, 'mfa-setup+jwt');
    expect(claims).toMatchObject({ sub: userId, account: accountId });
    expect(exp - iat).toBe(900);
    expect(await count(service, 'sessions', 'user_id = $1', userId)).toBe(1);
  },
);

test('200: the challenge when MFA is required and set up', async () => {
  const { email, userId, accountId } = await join(service);
  await set('users', 'mfa_enabled_at = now(), require_mfa = true', userId);
  await set('accounts', 'require_mfa = true', accountId);
  expect((await logIn(service, email)).body).toMatchObject({ mfa_challenge: true });
});

test('200: an account that requires MFA affects only those who enter it', async () => {
  const { email, userId } = await join(service);
  await set('accounts', 'require_mfa = true', await addMembership(service, userId, { role: 'admin' }));
  expect((await logIn(service, email)).body).toHaveProperty('access_token');
});

test.each([
  ['challenge', 'mfa_enabled_at = now()'],
  ['setup', 'require_mfa = true'],
])('401: the %s token is no access token and no refresh token', async (_name, column) => {
  const { email, userId } = await join(service);
  await set('users', column, userId);
  const { body } = await logIn(service, email);
  const token = Object.entries(body).find(([name]) => name.endsWith('_token'))?.[1] as string;
  expect((await service.client.with({ token }).call(getMe)).problem?.kind).toBe('unauthorized');
  expect((await refresh(service, token.slice(0, 512))).problem?.kind).toBe('unauthorized');
});

test('403 comes before MFA: without an open account no code is requested', async () => {
  const { email, userId, accountId } = await join(service);
  await set('users', 'mfa_enabled_at = now()', userId);
  await set('accounts', "status = 'closed'", accountId);
  expect((await logIn(service, email)).problem?.kind).toBe('forbidden');
});
