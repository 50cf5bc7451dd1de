import { refreshSession } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { claimsIn, join, type Person, refresh, rows, startAccountService } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

test.each([
  ['is required.', {}],
  ['must be text.', { refresh_token: 1 }],
  ['must be text', { refresh_token: null }],
])('400: a refresh token: %s', async (detail, body) => {
  const { status, problem } = await service.client.call(refreshSession, { body: body as never });
  expect([status, problem?.kind]).toEqual([400, 'validation-error']);
  expect(problem?.detail).toMatch(/^body\.refresh_token: /);
  expect(problem?.detail).toContain(detail);
});

test('401: a string that is not one of our tokens, of any length', async () => {
  const { session } = await join(service);
  const [id, secret] = session.refresh_token.split('.');
  const others = [
    '',
    'abc',
    'x'.repeat(512),
    'x'.repeat(513),
    'x'.repeat(12_000),
    `${session.refresh_token}${'x'.repeat(500)}`,
    `${newId('refresh_token')}.${secret}`,
    `${id}.${'A'.repeat(43)}`,
    `${id}.${secret}x`,
    ` ${session.refresh_token}`,
    `${session.refresh_token}\n`,
  ];
  for (const token of others) {
    const { status, problem } = await refresh(service, token);
    expect([status, problem?.kind]).toEqual([401, 'unauthorized']);
  }
});

test('401: the id of a token with a wrong secret does not affect the session', async () => {
  const { session } = await join(service);
  const [id] = session.refresh_token.split('.');
  await refresh(service, `${id}.${'A'.repeat(43)}`);
  expect((await refresh(service, session.refresh_token)).status).toBe(200);
});

const refusals: [string, (person: Person) => [string, unknown[]]][] = [
  ['the user is disabled', ({ userId }) => ['UPDATE users SET disabled_at = now() WHERE id = $1', [userId]]],
  ['the account is closed', ({ accountId }) => ["UPDATE accounts SET status = 'closed' WHERE id = $1", [accountId]]],
  [
    'the membership is disabled',
    ({ userId }) => ["UPDATE memberships SET status = 'disabled' WHERE user_id = $1", [userId]],
  ],
  ['the membership is removed', ({ userId }) => ['DELETE FROM memberships WHERE user_id = $1', [userId]]],
  [
    'the session began 90 days ago',
    ({ userId }) => ["UPDATE sessions SET signed_in_at = created_at - interval '90 days' WHERE user_id = $1", [userId]],
  ],
  ['the user is gone', ({ userId }) => ['DELETE FROM users WHERE id = $1', [userId]]],
  ['the account is gone', ({ accountId }) => ['DELETE FROM accounts WHERE id = $1', [accountId]]],
];

test.each(refusals)('401: when %s', async (_what, change) => {
  const person = await join(service);
  const [sql, values] = change(person);
  await service.db.query(sql, values);
  const { status, problem } = await refresh(service, person.session.refresh_token);
  expect([status, problem?.kind]).toEqual([401, 'unauthorized']);
  expect(problem?.detail).toBe('The refresh token is unknown, expired or was used before. Log in again.');
});

test('200: when the account is suspended', async () => {
  const { session, accountId } = await join(service);
  await service.db.query("UPDATE accounts SET status = 'suspended' WHERE id = $1", [accountId]);
  expect((await refresh(service, session.refresh_token)).status).toBe(200);
});

test('a refused refresh issues no token', async () => {
  const { session, accountId } = await join(service);
  await service.db.query("UPDATE accounts SET status = 'closed' WHERE id = $1", [accountId]);
  await refresh(service, session.refresh_token);
  const { sid } = claimsIn(service, session.access_token);
  expect(await rows(service, 'SELECT id FROM refresh_tokens WHERE session_id = $1', sid)).toHaveLength(1);
});

test('401: the response names an access token as such without repeating it; its session continues', async () => {
  const { session } = await join(service);
  expect(session.access_token.length).toBeGreaterThan(300);
  for (const token of [session.access_token, `${session.access_token}${'A'.repeat(1_000)}`]) {
    const { status, problem } = await refresh(service, token);
    const detail = 'This is an access token: send the refresh token that came with it.';
    expect([status, problem?.kind, problem?.detail]).toEqual([401, 'unauthorized', detail]);
  }
  expect((await refresh(service, session.refresh_token)).status).toBe(200);
});
