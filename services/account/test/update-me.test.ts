import { getMe, updateMe } from '@attribution/contracts';
import { personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { count, join, rows, startAccountService } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const update = (client: TestService['client'], body: object) => client.call(updateMe, { body: body as never });

test('200: the name, trimmed; everything else stays', async () => {
  const { client } = await join(service);
  const before = (await client.call(getMe)).body;
  const { status, body } = await update(client, { full_name: '  Ada King ' });
  expect([status, body]).toEqual([200, { ...before, full_name: 'Ada King' }]);
  expect((await client.call(getMe)).body).toEqual(body);
});

test('200: no fields, or the same name, change nothing and are not recorded', async () => {
  const { client, userId } = await join(service);
  const { full_name } = (await client.call(getMe)).body;
  expect((await update(client, {})).body).toMatchObject({ full_name });
  expect((await update(client, { full_name })).body).toMatchObject({ full_name });
  expect(await count(service, 'audit_log', "action = 'user.changed' AND subject_id = $1", userId)).toBe(0);
});

test('200: unknown fields are ignored', async () => {
  const { client, userId, accountId } = await join(service);
  const user = () => rows(service, 'SELECT * FROM users WHERE id = $1', userId);
  const membership = () => rows(service, 'SELECT * FROM memberships WHERE user_id = $1', userId);
  const before = [await user(), await membership()];
  const body = {
    ...{ role: 'member', account_id: `${accountId}x`, user_id: 'usr_1', disabled_at: null, require_mfa: true },
    ...{
      password: 'x',
      password_hash: 'x',
      email_key: 'x',
      mfa_enabled_at: '2026-01-01T00:00:00Z',
      status: 'disabled',
    },
  };
  expect((await update(client, body)).status).toBe(200);
  expect([await user(), await membership()]).toEqual(before);
});

test.each(['id', 'email', 'email_verified', 'mfa_enabled', 'created_at'])(
  '400: the user’s %s cannot be changed here',
  async (field) => {
    const { client } = await join(service);
    const before = (await client.call(getMe)).body;
    const { problem } = await update(client, { full_name: 'Eve', [field]: before[field as 'id'] });
    expect(problem).toMatchObject({ status: 400, detail: expect.stringContaining(`body.${field}: cannot be changed`) });
    expect((await client.call(getMe)).body).toEqual(before);
  },
);

test.each([
  ['must not be empty', ''],
  ['must not be empty', '   '],
  ['must be one line', 'a\nb'],
  ['must have at most 200 characters', 'x'.repeat(201)],
  ['must be text', 7],
  ['must be text', null],
])('400: full_name: %s', async (detail, full_name) => {
  const { client } = await join(service);
  const { problem } = await update(client, { full_name });
  expect(problem).toMatchObject({ status: 400, detail: expect.stringContaining(`body.full_name: ${detail}`) });
});

test('401: a user who no longer exists', async () => {
  const stranger = service.client.with({ token: personToken() });
  expect((await update(stranger, { full_name: 'Eve' })).problem).toMatchObject({
    status: 401,
    detail: 'This user does not exist any more.',
  });
});
