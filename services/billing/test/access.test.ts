import { endpoints, newId } from '@attribution/contracts';
import { keyToken, personToken, problemBase, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { badTokens, sendRaw, startBilling } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startBilling();
});
afterAll(() => service.stop());

/** Every endpoint of the contract, so that a new one is covered from its first day. */
const all = endpoints.filter((endpoint) => endpoint.service === 'billing');

/** The status and detail of every endpoint, which are one: all three read, and need no input. */
async function askAll(token: string | undefined) {
  const answers = await Promise.all(all.map(({ method, path }) => sendRaw(service, method, path, token)));
  const [first] = answers.map(({ status, text }) => ({ status, ...(status >= 400 && (JSON.parse(text) as object)) }));
  for (const answer of answers.slice(1)) {
    if (first?.status === 200) expect(answer.status).toBe(200);
    else expect(answer).toEqual(answers[0]);
  }
  return { ...first, headers: answers[0]?.headers };
}

test('the contract has all three endpoints of the area, and all of them read', () => {
  expect(all.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /v2/billing',
    'GET /v2/plan-prices',
    'GET /v2/usage-prices',
  ]);
});

test.each(badTokens())('401: %s opens no endpoint, and the answer says how to authenticate', async (_, token) => {
  expect(await askAll(token)).toMatchObject({
    type: `${problemBase}/unauthorized`,
    title: 'Not authenticated',
    status: 401,
    detail: 'The bearer token is missing, invalid or expired.',
    headers: { 'www-authenticate': 'Bearer', 'content-type': 'application/problem+json' },
  });
});

const writing = { type: 'api', readonly: false };
const narrow = { group_scope: 'selected', groups: { [newId('group')]: 'm' } };

test.each<[string, string]>([
  ['a member', personToken({ role: 'member', bil: 'n' })],
  ['an admin whose claim says none', personToken({ role: 'admin', bil: 'n' })],
  ['an owner whose claim says none', personToken({ bil: 'n' })],
  ['a viewer key', keyToken({ bil: 'n' })],
  ['a member key that may write', keyToken({ role: 'member', key: writing, bil: 'n' })],
])('403: %s without billing access sees nothing', async (_, token) => {
  expect(await askAll(token)).toMatchObject({
    type: `${problemBase}/forbidden`,
    status: 403,
    detail: 'This credential has no billing access.',
    headers: { 'content-type': 'application/problem+json' },
  });
});

test.each<[string, string]>([
  ['an owner', personToken()],
  ['an admin', personToken({ role: 'admin' })],
  ['a member who was granted it', personToken({ role: 'member' })],
  ['a narrowed member who was granted it', personToken({ role: 'member', ...narrow })],
  ['an admin key', keyToken({ role: 'admin', key: writing })],
  ['a read-only admin key', keyToken({ role: 'admin', key: { type: 'api', readonly: true } })],
  ['a viewer key that was granted it', keyToken()],
])('200: %s reads everything: the claim decides, not the role', async (_, token) => {
  expect(await askAll(token)).toMatchObject({ status: 200 });
});

test.each<[string, unknown]>([
  ['names no service', {}],
  ['names other services alone', { account: 'w', campaign: 'w', organization: 'w' }],
  ['is a text', 'w'],
  ['is a list', ['billing']],
  ['is null', null],
  ['holds a letter that nobody knows', { billing: 'x', '*': 'rw' }],
])('403: a svc claim that %s grants nothing', async (_, svc) => {
  const detail = 'This credential has no access to billing.';
  expect(await askAll(personToken({ svc }))).toMatchObject({ status: 403, detail });
});

test.each<object>([{ billing: 'r' }, { billing: 'w' }, { '*': 'r' }, { '*': 'w' }, { billing: 'r', '*': 'w' }])(
  '200: a svc claim of %j reads everything',
  async (svc) => {
    expect(await askAll(personToken({ svc }))).toMatchObject({ status: 200 });
  },
);

test('403: billing access does not stand in for the service, nor the service for billing access', async () => {
  expect(await askAll(personToken({ role: 'member', svc: { '*': 'w' }, bil: 'n' }))).toMatchObject({ status: 403 });
  expect(await askAll(personToken({ role: 'owner', svc: { account: 'w' } }))).toMatchObject({ status: 403 });
});
