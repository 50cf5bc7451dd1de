import { getAccount, updateAccount } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { count, enter, getRaw, join, logIn, rows, startAccountService } from './support.ts';
import { addMember } from './support-members.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const update = (client: TestService['client'], id: string, body: object) =>
  client.call(updateAccount, { params: { id }, body: body as never });

test('200: the name and require_mfa can be changed separately; everything else stays', async () => {
  const { client, accountId, session } = await join(service);
  const renamed = await update(client, accountId, { name: ' Lovelace & Co. ' });
  expect([renamed.status, renamed.body]).toEqual([200, { ...session.account, name: 'Lovelace & Co.' }]);
  const secured = await update(client, accountId, { require_mfa: true });
  expect(secured.body).toEqual({ ...renamed.body, require_mfa: true });
  expect((await client.call(getAccount, { params: { id: accountId } })).body).toEqual(secured.body);
});

test('200: with require_mfa the next login of any member requires MFA; the current session continues', async () => {
  const owner = await join(service);
  const member = await addMember(service, owner);
  await update(owner.client, owner.accountId, { require_mfa: true });
  expect((await logIn(service, member.email)).body).toHaveProperty('setup_token');
  expect((await update(owner.client, owner.accountId, { require_mfa: false })).status).toBe(200);
  await enter(service, member.email);
});

test('200: no fields, or unchanged values, change nothing and are not recorded', async () => {
  const { client, accountId, session } = await join(service);
  const before = await rows(service, 'SELECT * FROM accounts WHERE id = $1', accountId);
  for (const body of [{}, { name: session.account.name, require_mfa: false }])
    expect((await update(client, accountId, body)).body).toEqual(session.account);
  expect(await rows(service, 'SELECT * FROM accounts WHERE id = $1', accountId)).toEqual(before);
  expect(await count(service, 'audit_log', "account_id = $1 AND action = 'account.changed'", accountId)).toBe(0);
});

test('200: unknown fields are ignored', async () => {
  const { client, accountId } = await join(service);
  const read = () =>
    rows(service, 'SELECT a.*, m.role FROM accounts a JOIN memberships m ON account_id = id WHERE id = $1', accountId);
  const before = await read();
  const body = { account_type_key: 'brand', role: 'member', account_id: newId('account'), owner_id: newId('user') };
  expect((await update(client, accountId, body)).status).toBe(200);
  expect(await read()).toEqual(before);
});

test.each(['id', 'account_type', 'status', 'created_at'] as const)(
  '400: the account’s %s cannot be changed here',
  async (field) => {
    const { client, accountId, session } = await join(service);
    const { problem } = await update(client, accountId, { name: 'Eve', [field]: session.account[field] });
    expect(problem).toMatchObject({ status: 400, detail: expect.stringContaining(`body.${field}: cannot be changed`) });
    expect((await client.call(getAccount, { params: { id: accountId } })).body).toEqual(session.account);
  },
);

test.each([
  ['body.name: must not be empty', { name: ' ' }],
  ['body.name: must be text', { name: null }],
  ['body.require_mfa: must be true or false', { require_mfa: 'yes' }],
  ['body: is required', undefined],
])('400: %s', async (detail, body) => {
  const { client, accountId } = await join(service);
  const { problem } = await client.call(updateAccount, { params: { id: accountId }, body: body as never });
  expect(problem).toMatchObject({ status: 400, detail: expect.stringContaining(detail) });
});

test.each(['admin', 'member'] as const)('403: with the role %s', async (role) => {
  const owner = await join(service);
  const { client } = await addMember(service, owner, { role });
  const { problem } = await update(client, owner.accountId, { name: 'Eve' });
  expect(problem).toMatchObject({
    status: 403,
    detail: `The role ${role} is not allowed here: it takes owner.`,
  });
});

test('403: a former owner whose token still says owner', async () => {
  const { client, accountId, userId } = await join(service);
  await service.db.query("UPDATE memberships SET role = 'admin' WHERE user_id = $1", [userId]);
  const { problem } = await update(client, accountId, { name: 'Eve' });
  expect(problem).toMatchObject({ status: 403, detail: 'You are not the owner of this account any more.' });
});

test('403: a caller who is owner only in the token', async () => {
  const { accountId } = await join(service);
  const stranger = service.client.with({ token: personToken({ account: accountId }) });
  expect((await update(stranger, accountId, { name: 'Eve' })).problem?.status).toBe(403);
});

test('404: another account gets the same response as an unknown one', async () => {
  const [ada, bob] = [await join(service), await join(service)];
  const { problem } = await update(ada.client, bob.accountId, { name: 'Eve' });
  const missing = await update(ada.client, newId('account'), { name: 'Eve' });
  expect(problem).toMatchObject({ status: 404, kind: 'not-found' });
  expect(missing.problem).toEqual(problem);
  const read = await getRaw(service, `/v2/accounts/${bob.accountId}`, bob.session.access_token);
  expect(JSON.parse(read.text)).toEqual(bob.session.account);
});

test('409: a closed account', async () => {
  const { client, accountId } = await join(service);
  await service.db.query("UPDATE accounts SET status = 'closed' WHERE id = $1", [accountId]);
  const { problem } = await update(client, accountId, { name: 'Eve' });
  expect(problem).toMatchObject({ status: 409, kind: 'conflict', detail: 'The account is closed.' });
});
