import { createSupportSession, endpoints, listApiKeys } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { internalToken, sendRaw, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { claimsIn, count, join, type Person, startAccountService } from './support.ts';
import { auditRecordsOn, makeKey } from './support-keys.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService();
  ada = await join(service);
});
afterAll(() => service.stop());

const operator = 'grace@attribution.example';
const open = (accountId: string, fields: object = {}) =>
  service.client
    .with({ token: internalToken('account', 'account') })
    .call(createSupportSession, { body: { account_id: accountId, operator, reason: 'Ticket 4711', ...fields } });

test('201: a token for 15 minutes that names the operator and the reason', async () => {
  const { status, body } = await open(ada.accountId);
  expect(status).toBe(201);
  expect(body).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 900 });
  const { iat, exp, ...claims } = claimsIn(service, body.access_token);
  expect(exp - iat).toBe(900);
  expect(claims).toEqual({
    iss: 'attribution-platform',
    aud: 'attribution-platform',
    sub: operator,
    account: ada.accountId,
    role: 'admin',
    account_type: 'network',
    support: { reason: 'Ticket 4711' },
  });
});

test('201: each is in the account’s audit log, with the operator, the reason and the service', async () => {
  const { accountId } = await join(service);
  await open(accountId);
  await open(accountId, { operator: 'alan@attribution.example', reason: 'Ticket 4712' });
  expect(await auditRecordsOn(service, accountId)).toEqual([
    expect.objectContaining({ action: 'account.created' }),
    {
      action: 'support_session.opened',
      outcome: 'done',
      actor_type: 'support',
      actor_id: operator,
      details: { reason: 'Ticket 4711', by: 'account' },
    },
    expect.objectContaining({
      actor_id: 'alan@attribution.example',
      details: { reason: 'Ticket 4712', by: 'account' },
    }),
  ]);
});

test('503: a session that cannot be recorded is not opened', async () => {
  await service.db.query(
    `ALTER TABLE audit_log ADD CONSTRAINT refuse CHECK (action <> 'support_session.opened') NOT VALID`,
  );
  try {
    const { status, problem } = await open(ada.accountId);
    expect([status, problem?.kind]).toEqual([503, 'unavailable']);
  } finally {
    await service.db.query('ALTER TABLE audit_log DROP CONSTRAINT refuse');
  }
});

test('201: into a closed account as well', async () => {
  const { accountId } = await join(service);
  await service.db.query(`UPDATE accounts SET status = 'closed' WHERE id = $1`, [accountId]);
  expect((await open(accountId)).status).toBe(201);
});

const ofAccount = endpoints.filter((one) => one.service === 'account' && one.access.credential !== 'none');
const lines = (of: typeof ofAccount) => of.map(({ method, path }) => [method, path] as const);
const isSelf = ({ access }: (typeof ofAccount)[number]) => 'about_self' in access || access.credential === 'optional';

async function send(method: string, path: string) {
  const { body } = await open(ada.accountId);
  const key = await makeKey(ada.client);
  const ids: Record<string, string> = {
    '/v2/api-keys': key.id,
    '/v2/users': ada.userId,
    '/v2/accounts': ada.accountId,
  };
  const id = ids[path.split('/').slice(0, 3).join('/')] ?? newId('invitation');
  return sendRaw(service, method, path.replaceAll(/\{[a-z_]+\}/g, id), body.access_token);
}

test.each(lines(ofAccount.filter((one) => one.method === 'GET' && !isSelf(one))))(
  '200: %s %s returns the same as for an admin',
  async (method, path) => {
    expect((await send(method, path)).status).toBe(200);
  },
);

test.each(lines(ofAccount.filter((one) => one.method !== 'GET' || isSelf(one))))(
  '403: %s %s is refused for a support session',
  async (method, path) => {
    const keys = await count(service, 'api_keys', 'revoked_at IS NULL');
    const { status, text } = await send(method, path);
    expect([status, text.includes('A support session only looks on.')]).toEqual([403, true]);
    // The key that `send` created.
    expect(await count(service, 'api_keys', 'revoked_at IS NULL')).toBe(keys + 1);
  },
);

test('it reads only that account', async () => {
  const bob = await join(service);
  await makeKey(bob.client);
  const token = (await open(bob.accountId)).body.access_token;
  const { body } = await service.client.with({ token }).call(listApiKeys);
  expect(body.map(({ created_by }) => created_by)).toEqual([bob.userId]);
});

test.each<[string, object]>([
  ['body.operator: must not be empty, not "".', { operator: '' }],
  ['body.reason: must not be empty, not "  ".', { reason: '  ' }],
  ['body.account_id: must be an account id (acc_…), not "me".', { account_id: 'me' }],
])('400: %s', async (detail, fields) => {
  const before = await count(service, 'audit_log');
  const { problem } = await open(ada.accountId, fields);
  expect([problem?.kind, problem?.detail]).toEqual(['validation-error', detail]);
  expect(await count(service, 'audit_log')).toBe(before);
});

test('422: an account that does not exist', async () => {
  const nobody = newId('account');
  const { status, problem } = await open(nobody);
  expect([status, problem?.kind, problem?.detail]).toEqual([
    422,
    'unprocessable',
    `body.account_id: there is no ${nobody}.`,
  ]);
});
