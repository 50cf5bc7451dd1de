import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addMembership, claimsIn, enter, join, logIn, startAccountService } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const setStatus = (accountId: string, status: 'suspended' | 'closed') =>
  service.db.query('UPDATE accounts SET status = $2::"AccountStatus" WHERE id = $1', [accountId, status]);

const early = '2020-01-01T00:00:00Z';
const late = '2020-02-01T00:00:00Z';

/** A verified user whose first own account is closed. */
async function joinWithoutAccount() {
  const person = await join(service);
  await setStatus(person.accountId, 'closed');
  return person;
}

test('an account that the user owns is chosen before any that was joined earlier', async () => {
  const { email, userId, accountId } = await join(service);
  await addMembership(service, userId, { role: 'admin', joinedAt: early });
  expect((await enter(service, email)).account.id).toBe(accountId);
});

test('of several owned accounts, the one joined first is chosen', async () => {
  const { email, userId } = await join(service);
  await addMembership(service, userId, { role: 'owner', joinedAt: late });
  const first = await addMembership(service, userId, { role: 'owner', joinedAt: early });
  expect((await enter(service, email)).account.id).toBe(first);
});

test('without an open account of their own, the user enters the one joined first, whatever the role', async () => {
  const { email, userId } = await joinWithoutAccount();
  await addMembership(service, userId, { role: 'admin', joinedAt: late });
  const first = await addMembership(service, userId, { role: 'member', joinedAt: early });
  expect((await enter(service, email)).account.id).toBe(first);
});

test('a closed account is never chosen, a suspended one is', async () => {
  const { email, userId } = await joinWithoutAccount();
  await addMembership(service, userId, { role: 'owner', accountStatus: 'closed', joinedAt: early });
  const suspended = await addMembership(service, userId, { accountStatus: 'suspended', joinedAt: late });
  const { account } = await enter(service, email);
  expect(account).toMatchObject({ id: suspended, status: 'suspended', name: 'Another', account_type: 'brand' });
});

test('a disabled membership is never chosen', async () => {
  const { email, userId } = await joinWithoutAccount();
  await addMembership(service, userId, { role: 'owner', status: 'disabled', joinedAt: early });
  const open = await addMembership(service, userId, { role: 'member', joinedAt: late });
  expect((await enter(service, email)).account.id).toBe(open);
});

test('the token is for the chosen account only, with the role there', async () => {
  const { email, userId } = await joinWithoutAccount();
  const chosen = await addMembership(service, userId, { role: 'admin' });
  const { access_token } = await enter(service, email);
  expect(claimsIn(service, access_token)).toMatchObject({
    account: chosen,
    role: 'admin',
    account_type: 'brand',
    sub: userId,
  });
});

test('403: no account is left when the membership is disabled and the other account is closed', async () => {
  const { email, userId } = await joinWithoutAccount();
  await addMembership(service, userId, { status: 'disabled' });
  const { status, problem } = await logIn(service, email);
  expect([status, problem?.kind]).toEqual([403, 'forbidden']);
  expect(problem?.detail).toContain('The account is closed');
});

test('403: a user without any account', async () => {
  const { email, userId } = await join(service);
  await service.db.query('DELETE FROM memberships WHERE user_id = $1', [userId]);
  expect((await logIn(service, email)).problem?.kind).toBe('forbidden');
});
