import { forgotPassword, login, resetPassword, signup, verifyEmail } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { claimsIn, fullName, join, newEmail, password, requireSession, rows, startAccountService } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

/** Names of columns and claims, with values that callers must not be able to set. */
const greedy = () => ({
  id: newId('user'),
  user_id: newId('user'),
  account_id: newId('account'),
  account_type: 'brand',
  account_type_key: 'brand',
  role: 'admin',
  group_scope: 'selected',
  services: { '*': 'w' },
  status: 'suspended',
  email_verified: true,
  email_verified_at: '2026-01-01T00:00:00Z',
  mfa_enabled_at: '2026-01-01T00:00:00Z',
  disabled_at: null,
  password_hash: 'x',
  require_mfa: true,
  tokens: 1_000_000,
});

const everythingOf = (userId: string) =>
  rows(
    service,
    `SELECT to_jsonb(u) - 'updated_at' - 'password_hash' AS "user", to_jsonb(m) AS membership, to_jsonb(a) AS account, b.posted
     FROM users u JOIN memberships m ON m.user_id = u.id JOIN accounts a ON a.id = m.account_id
     JOIN balances b ON b.account_id = a.id WHERE u.id = $1`,
    userId,
  );

test('a sign-up accepts an address, a password and a name, and ignores other fields', async () => {
  const email = newEmail();
  const { body } = await service.client.call(signup, {
    body: { ...greedy(), email, password, full_name: fullName } as never,
  });
  expect(await everythingOf(body.user_id)).toMatchObject([
    {
      user: { email, full_name: fullName, email_verified_at: null, mfa_enabled_at: null, require_mfa: false },
      membership: { account_id: body.account_id, role: 'owner', group_scope: 'all', services: null, status: 'active' },
      account: { id: body.account_id, account_type_key: 'network', status: 'active', require_mfa: false },
      posted: '1000',
    },
  ]);
});

test('a verification only verifies the address, and a login only logs in', async () => {
  const email = newEmail();
  const signedUp = await service.client.call(signup, { body: { email, password, full_name: fullName } });
  const { user_id, account_id } = signedUp.body;
  const [before] = await everythingOf(user_id);
  const code = await service.mailbox.codeFor(email);
  const verified = await service.client.call(verifyEmail, { body: { ...greedy(), email, code } as never });
  const loggedIn = await service.client.call(login, { body: { ...greedy(), email, password } as never });
  for (const { body } of [verified, loggedIn])
    expect(claimsIn(service, requireSession(body).access_token)).toMatchObject({
      ...{ sub: user_id, account: account_id, role: 'owner', account_type: 'network' },
    });
  const [after] = await everythingOf(user_id);
  expect(after).toEqual({
    ...before,
    user: { ...(before as { user: object }).user, email_verified_at: expect.any(String) },
  });
});

test('a reset sets the password of the address that the code was sent to, and no other', async () => {
  const [ada, bob] = [await join(service), await join(service)];
  const before = [await everythingOf(ada.userId), await everythingOf(bob.userId)];
  await service.client.call(forgotPassword, { body: { ...greedy(), user_id: bob.userId, email: ada.email } as never });
  const code = await service.mailbox.codeFor(ada.email, 2);
  const body = { ...greedy(), user_id: bob.userId, email: ada.email, code, new_password: 'eight loud trumpets' };
  expect((await service.client.call(resetPassword, { body: body as never })).status).toBe(204);
  expect([await everythingOf(ada.userId), await everythingOf(bob.userId)]).toEqual(before);
  const asBob = await service.client.call(login, { body: { email: bob.email, password } });
  expect(asBob.status).toBe(200);
});
