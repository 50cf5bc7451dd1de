import {
  badTokens,
  internalToken,
  keyToken,
  personToken,
  sendRaw,
  supportToken,
  type TestService,
} from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { claimsIn, join, type Person, refresh, startAccountService } from './support.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService();
  ada = await join(service);
});
afterAll(() => service.stop());

const self = [
  ['GET', '/v2/users/me'],
  ['PATCH', '/v2/users/me'],
  ['POST', '/v2/users/me/password'],
  ['GET', '/v2/users/me/permissions'],
  ['GET', '/v2/users/me/sessions'],
  ['DELETE', '/v2/users/me/sessions/{session}'],
  ['GET', '/v2/accounts'],
  ['POST', '/v2/accounts/switch'],
  ['POST', '/v2/mfa/recovery-codes'],
  ['POST', '/v2/mfa/disable'],
] as const;
/** With a session or a setup_token. */
const enrolling = [
  ['POST', '/v2/mfa/setup'],
  ['POST', '/v2/mfa/setup/verify'],
] as const;
const reading = [
  ['GET', '/v2/accounts/{account}'],
  ['GET', '/v2/audit-log'],
] as const;
const owning = [
  ['PATCH', '/v2/accounts/{account}'],
  ['POST', '/v2/accounts/{account}/close'],
  ['POST', '/v2/accounts/{account}/transfer-ownership'],
] as const;
const all = [...self, ...enrolling, ...reading, ...owning];

/** The response. The body, if the method has one, is invalid JSON, because it must not be read before the check. */
async function refusal(method: string, path: string, token: string | undefined): Promise<string> {
  const session = `rt_${claimsIn(service, ada.session.access_token).sid}`;
  const filled = path.replace('{account}', ada.accountId).replace('{session}', session);
  const { status, text } = await sendRaw(service, method, filled, token, method === 'GET' ? undefined : '{');
  return `${status} ${JSON.parse(text).detail}`;
}

const inAccount = () => ({ account: ada.accountId, sub: ada.userId });

test.each([...self, ...reading, ...owning])('401: %s %s without one of our tokens', async (method, path) => {
  const others: [string, string | undefined][] = [
    ...badTokens(),
    ['an internal token', internalToken('billing', 'account')],
    ['a refresh token', ada.session.refresh_token],
  ];
  for (const [what, token] of others)
    expect([what, await refusal(method, path, token)]).toEqual([
      what,
      '401 The bearer token is missing, invalid or expired.',
    ]);
});

test.each(enrolling)('401: %s %s with a token that is not ours', async (method, path) => {
  for (const [what, token] of badTokens().filter(([, token]) => token !== undefined))
    expect([what, await refusal(method, path, token)]).toEqual([
      what,
      '401 The bearer token is missing, invalid or expired.',
    ]);
});

test.each(all)('403: %s %s with the token of any key', async (method, path) => {
  for (const claims of [{}, { role: 'admin' as const, key: { type: 'production', readonly: false } }])
    expect(await refusal(method, path, keyToken({ account: ada.accountId, ...claims }))).toBe(
      '403 An API key cannot be used here: sign in as a person.',
    );
});

test.each([...self, ...enrolling, ...owning])('403: %s %s for a support session', async (method, path) => {
  const detail = await refusal(method, path, supportToken({ account: ada.accountId, sub: ada.userId }));
  expect(detail).toBe('403 A support session only looks on.');
});

test.each([...owning, ['GET', '/v2/audit-log']] as const)('403: %s %s for a member', async (method, path) => {
  const detail = await refusal(method, path, personToken({ ...inAccount(), role: 'member' }));
  expect(detail).toMatch(/^403 The role member is not allowed here: it takes owner/);
});

test.each([...reading, ...owning])('403: %s %s without access to account', async (method, path) => {
  const detail = await refusal(method, path, personToken({ ...inAccount(), svc: { campaign: 'w' } }));
  expect(detail).toBe('403 This credential has no access to account.');
});

test.each(owning)('403: %s %s for an owner who only reads in account', async (method, path) => {
  const detail = await refusal(method, path, personToken({ ...inAccount(), svc: { '*': 'r' } }));
  expect(detail).toBe('403 This credential may only read in account.');
});

test('after all of these, the session and the account are unchanged', async () => {
  expect((await refresh(service, ada.session.refresh_token)).status).toBe(200);
  const { rows } = await service.db.query('SELECT status, name, require_mfa FROM accounts WHERE id = $1', [
    ada.accountId,
  ]);
  expect(rows).toEqual([{ status: 'active', name: 'Ada Lovelace', require_mfa: false }]);
});
