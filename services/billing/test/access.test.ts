import { type Endpoint, endpoints } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { keyToken, personToken, problemBase, supportToken } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { badTokens, sendRaw } from './support.ts';
import { type Money, startMoney } from './support-money.ts';

let money: Money;
beforeAll(async () => {
  money = await startMoney();
});
afterAll(() => money.stop());

/** Every endpoint of the contract but the provider's own, so that a new one is covered from its first day. */
const all = endpoints.filter(({ service, access }) => service === 'billing' && access.credential !== 'none');
const reads = all.filter(({ method }) => method === 'GET');
const writes = all.filter(({ method }) => method !== 'GET');
const checkout = all.filter(({ operation }) => operation === 'create_checkout_session');

const ids: Record<string, string> = {
  get_checkout_session: newId('checkout_session'),
  get_payment: newId('payment'),
  get_refund: newId('refund'),
  remove_payment_method: 'pm_nobodys',
};

const ask = ({ method, path, operation }: Endpoint, token: string | undefined) =>
  sendRaw(money, method, path.replace('{id}', ids[operation] ?? ''), token);

/** Asks each endpoint; all of them refuse with one and the same answer, which is given. */
async function refusal(of: readonly Endpoint[], token: string | undefined) {
  const answers = await Promise.all(of.map((endpoint) => ask(endpoint, token)));
  const [first] = answers;
  for (const answer of answers) expect(answer).toEqual(first);
  return { ...(JSON.parse(first?.text ?? '') as object), headers: first?.headers };
}

/** What each endpoint answers to somebody who is let in, and sends no body. */
const letIn: Record<string, number> = {
  get_billing_summary: 200,
  list_plan_prices: 200,
  list_usage_prices: 200,
  create_checkout_session: 400,
  get_checkout_session: 404,
  list_payments: 200,
  get_payment: 404,
  list_refunds: 200,
  get_refund: 404,
  cancel_subscription: 200,
  resume_subscription: 404,
  change_plan: 400,
  list_money_entries: 200,
  list_payment_methods: 200,
  add_payment_method: 201,
  remove_payment_method: 404,
};

async function statuses(of: readonly Endpoint[], token: string) {
  const asked = of.map(async (endpoint) => [endpoint.operation, (await ask(endpoint, token)).status] as const);
  return Object.fromEntries(await Promise.all(asked));
}
const allowed = (of: readonly Endpoint[]) =>
  Object.fromEntries(of.map(({ operation }) => [operation, letIn[operation]]));

test('every endpoint of the area needs billing access, and a token of a person or a key', () => {
  expect(Object.keys(letIn).sort()).toEqual(all.map(({ operation }) => operation).sort());
  for (const { access } of all) expect(access).toMatchObject({ credential: 'any', billing: true });
});

test.each(badTokens())('401: %s opens no endpoint, and the answer says how to authenticate', async (_, token) => {
  expect(await refusal(all, token)).toMatchObject({
    type: `${problemBase}/unauthorized`,
    title: 'Not authenticated',
    status: 401,
    detail: 'The bearer token is missing, invalid or expired.',
    headers: { 'www-authenticate': 'Bearer', 'content-type': 'application/problem+json' },
  });
});

const writing = { type: 'api', readonly: false };
const reading = { type: 'api', readonly: true };
const narrow = { group_scope: 'selected', groups: { [newId('group')]: 'm' } };
const notCheckout = writes.filter((endpoint) => !checkout.includes(endpoint));

test.each<[string, string, readonly Endpoint[]]>([
  ['a member', personToken({ role: 'member', bil: 'n' }), [...reads, ...notCheckout]],
  ['an admin whose claim says none', personToken({ role: 'admin', bil: 'n' }), all],
  ['an owner whose claim says none', personToken({ bil: 'n' }), all],
  ['a viewer key', keyToken({ bil: 'n' }), reads],
  ['a read-only admin key', keyToken({ role: 'admin', key: reading, bil: 'n' }), reads],
  ['a member key that may write', keyToken({ role: 'member', key: writing, bil: 'n' }), [...reads, ...notCheckout]],
  ['an admin key that may write', keyToken({ role: 'admin', key: writing, bil: 'n' }), all],
])('403: %s without billing access sees nothing and does nothing', async (_, token, of) => {
  expect(await refusal(of, token)).toMatchObject({
    type: `${problemBase}/forbidden`,
    status: 403,
    detail: 'This credential has no billing access.',
    headers: { 'content-type': 'application/problem+json' },
  });
});

test.each<[string, string]>([
  ['an owner', personToken()],
  ['an admin', personToken({ role: 'admin' })],
  ['an admin key that may write', keyToken({ role: 'admin', key: writing })],
])('%s reads and writes everything', async (_, token) => {
  expect(await statuses(all, token)).toEqual(allowed(all));
});

test.each<[string, string]>([
  ['a member who was granted it', personToken({ role: 'member' })],
  ['a narrowed member who was granted it', personToken({ role: 'member', ...narrow })],
  ['a member key that was granted it', keyToken({ role: 'member', key: writing })],
])('403: %s reads and writes, but opens no checkout: that takes an owner or an admin', async (_, token) => {
  const others = [...reads, ...notCheckout];
  expect(await statuses(others, token)).toEqual(allowed(others));
  const detail = 'The role member is not allowed here: it takes owner or admin.';
  expect(await refusal(checkout, token)).toMatchObject({ status: 403, detail });
});

test.each<[string, string]>([
  ['a read-only admin key', keyToken({ role: 'admin', key: reading })],
  ['a viewer key that was granted it', keyToken()],
  ['a viewer key that says it may write', keyToken({ key: writing })],
])('403: %s reads everything, and is refused on every write', async (_, token) => {
  expect(await statuses(reads, token)).toEqual(allowed(reads));
  expect(await refusal(writes, token)).toMatchObject({ status: 403, detail: 'This API key is read-only.' });
});

test('403: a support session reads everything, and changes nothing', async () => {
  expect(await statuses(reads, supportToken())).toEqual(allowed(reads));
  const detail = 'A support session only looks on.';
  expect(await refusal(writes, supportToken())).toMatchObject({ status: 403, detail });
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
  expect(await refusal(all, personToken({ svc }))).toMatchObject({ status: 403, detail });
});

test.each<object>([{ billing: 'w' }, { '*': 'w' }, { billing: 'w', '*': 'r' }])(
  'a svc claim of %j reads and writes everything',
  async (svc) => {
    expect(await statuses(all, personToken({ svc }))).toEqual(allowed(all));
  },
);

test.each<object>([{ billing: 'r' }, { '*': 'r' }, { billing: 'r', '*': 'w' }])(
  '403: a svc claim of %j reads everything, and is refused on every write',
  async (svc) => {
    const token = personToken({ svc });
    expect(await statuses(reads, token)).toEqual(allowed(reads));
    const detail = 'This credential may only read in billing.';
    expect(await refusal(writes, token)).toMatchObject({ status: 403, detail });
  },
);

test('403: billing access does not stand in for the service, nor the service for billing access', async () => {
  const noBilling = personToken({ svc: { '*': 'w' }, bil: 'n' });
  expect(await refusal(all, noBilling)).toMatchObject({ status: 403 });
  expect(await refusal(all, personToken({ svc: { account: 'w' } }))).toMatchObject({ status: 403 });
});
