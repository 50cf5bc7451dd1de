import { newId } from '@attribution/ids';
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
import { join, type Person, rows, startAccountService } from './support.ts';
import { addMember, invite } from './support-members.ts';

let service: TestService;
let ada: Person;
let bob: Person;
let invitationId: string;
beforeAll(async () => {
  service = await startAccountService();
  ada = await join(service);
  bob = await addMember(service, ada);
  invitationId = (await invite(service, ada)).id;
});
afterAll(() => service.stop());

const reads = [
  ['GET', '/v2/users'],
  ['GET', '/v2/users/{user}'],
] as const;
const managing = [
  ['PATCH', '/v2/users/{user}'],
  ['DELETE', '/v2/users/{user}'],
  ['GET', '/v2/invitations'],
  ['POST', '/v2/invitations'],
  ['POST', '/v2/invitations/{invitation}/resend'],
  ['DELETE', '/v2/invitations/{invitation}'],
] as const;
const all = [...reads, ...managing];
const writes = managing.filter(([method]) => method !== 'GET');

/**
 * The type of the problem. The body, if the method has one, is invalid JSON, because it must not be read before the
 * check.
 */
async function refusal(method: string, path: string, token: string | undefined): Promise<string> {
  const filled = path.replace('{user}', bob.userId).replace('{invitation}', invitationId);
  const { status, text } = await sendRaw(service, method, filled, token, method === 'GET' ? undefined : '{');
  return `${status} ${JSON.parse(text).detail}`;
}

const people = () =>
  rows(service, 'SELECT to_json(m) FROM memberships AS m UNION ALL SELECT to_json(i) FROM invitations AS i');

test.each(all)('401: %s %s without one of our tokens', async (method, path) => {
  const before = await people();
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
  expect(await people()).toEqual(before);
});

test.each(all)('403: %s %s with the token of any key', async (method, path) => {
  const before = await people();
  for (const claims of [{}, { role: 'admin' as const, key: { type: 'production', readonly: false } }])
    expect(await refusal(method, path, keyToken({ account: ada.accountId, ...claims }))).toBe(
      '403 An API key cannot be used here: sign in as a person.',
    );
  expect(await people()).toEqual(before);
});

test.each(managing)('403: %s %s for a member', async (method, path) => {
  const before = await people();
  expect(await refusal(method, path, bob.session.access_token)).toBe(
    '403 The role member is not allowed here: it takes owner or admin.',
  );
  expect(await people()).toEqual(before);
});

test.each(all)('403: %s %s without access to account', async (method, path) => {
  const token = personToken({ account: ada.accountId, svc: { campaign: 'w' } });
  expect(await refusal(method, path, token)).toBe('403 This credential has no access to account.');
});

test.each(writes)(
  '403: %s %s for a support session, and for a caller who only reads in account',
  async (method, path) => {
    const account = ada.accountId;
    const before = await people();
    expect(await refusal(method, path, supportToken({ account }))).toBe('403 A support session only looks on.');
    expect(await refusal(method, path, personToken({ account, svc: { '*': 'r' } }))).toBe(
      '403 This credential may only read in account.',
    );
    expect(await people()).toEqual(before);
  },
);

test.each(['resend', ''])(
  '404: an invitation of another account gets the same response byte for byte as any id (%s)',
  async (action) => {
    const stranger = await join(service);
    const { id: foreign } = await invite(service, stranger);
    const send = (id: string) =>
      action
        ? sendRaw(service, 'POST', `/v2/invitations/${id}/${action}`, ada.session.access_token)
        : sendRaw(service, 'DELETE', `/v2/invitations/${id}`, ada.session.access_token);
    const unknown = await send(newId('invitation'));
    expect(unknown.status).toBe(404);
    for (const id of [foreign, newId('user'), foreign.toUpperCase(), 'inv_1', '1', '%20'])
      expect(await send(id)).toEqual(unknown);
  },
);
