import { expect, test } from '@jest/globals';
import { type Endpoint, endpoints, problemKinds, problemsOf } from '../src/index.ts';

/** The tables of spec §4: success, then the errors named there. */
const tables = `
POST /v2/auth/signup 202 400 409 429
POST /v2/auth/verify-email 200 400 403 410 429
POST /v2/auth/verify-email/resend 202 429
POST /v2/auth/login 200 400 401 403 429
POST /v2/auth/refresh 200 400 401
POST /v2/auth/forgot-password 202 400 429
POST /v2/auth/reset-password 204 400 410 429
POST /v2/auth/api-token 200 401 403 429
POST /v2/auth/logout 204 401
POST /v2/mfa/challenge/verify 200 400 401
GET /v2/accounts/{id}/ledger 200 401 403 404
GET /v2/users/me/permissions 200 401
GET /v2/plans 200 401
GET /v2/account-types 200 401
GET /v2/api-keys 200 401 403
POST /v2/api-keys 201 400 401 403 409 422
GET /v2/api-keys/{id} 200 401 403 404
PATCH /v2/api-keys/{id} 200 400 401 403 404 409 422
DELETE /v2/api-keys/{id} 204 401 403 404
POST /v2/api-keys/{id}/rotate 201 400 401 403 404 409
POST /v2/checkout-sessions 201 400 401 403 404
GET /v2/checkout-sessions/{id} 200 401 403 404
GET /v2/payments 200 401 403
GET /v2/payments/{id} 200 401 403 404
GET /v2/refunds 200 401 403
GET /v2/refunds/{id} 200 401 403 404
GET /v2/billing 200 401 403
POST /v2/billing/subscription/cancel 200 401 403 404
POST /v2/billing/subscription/resume 200 401 403 404
POST /v2/billing/subscription/change-plan 200 400 401 403 404
GET /v2/billing/ledger 200 401 403
GET /v2/payment-methods 200 401 403
POST /v2/payment-methods 201 401 403
DELETE /v2/payment-methods/{id} 204 401 403 404
GET /v2/plan-prices 200 401 403
GET /v2/usage-prices 200 401 403
GET /v2/campaigns 200 401
POST /v2/campaigns 201 400 401
GET /v2/campaigns/{id} 200 401 404
PATCH /v2/campaigns/{id} 200 400 401 404 409
GET /v2/locations 200 401
`;

/** Spec §8: seconds, number, and what counts. All other endpoints are unlimited. */
const limits = new Map([
  ['POST /v2/auth/signup', [3600, 5, 'requests']],
  ['POST /v2/auth/login', [900, 10, 'unauthorized']],
  ['POST /v2/auth/api-token', [60, 60, 'requests']],
  ['POST /v2/auth/refresh', [60, 30, 'requests']],
  ['POST /v2/auth/verify-email', [900, 5, 'requests']],
  ['POST /v2/auth/verify-email/resend', [900, 3, 'requests']],
  ['POST /v2/auth/forgot-password', [900, 3, 'requests']],
  ['POST /v2/auth/reset-password', [900, 5, 'requests']],
]);

const nameOf = ({ method, path }: Endpoint) => `${method} ${path}`;
const named = endpoints.map((endpoint): [string, Endpoint] => [nameOf(endpoint), endpoint]);
const declared = new Map(named);
const statusesOf = (endpoint: Endpoint) => problemsOf(endpoint).map((kind) => problemKinds[kind].status);

const rows = tables
  .trim()
  .split('\n')
  .map((line): [string, number, number[]] => {
    const [method = '', path = '', success = '', ...errors] = line.split(' ');
    return [`${method} ${path}`, Number(success), errors.map(Number)];
  });

test.each(rows.filter(([name]) => declared.has(name)))(
  '%s succeeds with %i, and can respond with every error of its row',
  (name, success, errors) => {
    const endpoint = declared.get(name) as Endpoint;
    expect(endpoint.success.status).toBe(success);
    expect(statusesOf(endpoint)).toEqual(expect.arrayContaining(errors));
  },
);

test('most rows of the tables are compared with an endpoint', () => {
  expect(rows.filter(([name]) => declared.has(name)).length).toBeGreaterThanOrEqual(19);
});

test.each(named)('%s has the rate limit of the specification, or none', (name, { rate_limit }) => {
  const given = rate_limit && [rate_limit.window_seconds, rate_limit.limit, rate_limit.counts];
  expect(given).toEqual(limits.get(name));
});

test.each(named)('%s responds only with statuses of the specification', (_name, endpoint) => {
  const used = [400, 401, 402, 403, 404, 409, 410, 422, 429, 502, 503];
  expect(statusesOf(endpoint).filter((status) => !used.includes(status))).toEqual([]);
});

test.each(named.filter(([, { access }]) => access.credential !== 'none'))(
  '%s, which requires a token, can respond with 401 and 403',
  (_name, endpoint) => {
    expect(statusesOf(endpoint)).toEqual(expect.arrayContaining([401, 403]));
  },
);

/** Decision 8. */
const bareArrays = [
  '/v2/api-keys',
  '/v2/plans',
  '/v2/account-types',
  '/v2/payment-methods',
  '/v2/plan-prices',
  '/v2/usage-prices',
];
const lists = named.filter(
  ([, { method, query, path }]) => method === 'GET' && (query?.shape.cursor || bareArrays.includes(path)),
);

/** What a list says besides its rows. */
const besidesRows: Readonly<Record<string, readonly string[]>> = {
  '/v2/screens/match': ['total', 'groups'],
  '/v2/visits/dwell': ['from', 'to', 'as_of', 'overall'],
  '/v2/plays': ['from', 'to', 'as_of'],
};

test.each(lists)('%s returns its list in the specified shape', (_name, { path, success }) => {
  const body = success.body as unknown as { def: { type: string }; shape?: Record<string, unknown> };
  if (bareArrays.includes(path)) {
    expect(body.def.type).toBe('array');
    return;
  }
  const rowsField = path === '/v2/campaigns' ? 'data' : 'entries';
  expect(Object.keys(body.shape ?? {}).sort()).toEqual([rowsField, 'next_cursor', ...(besidesRows[path] ?? [])].sort());
});

test.each(lists.filter(([, { path }]) => !bareArrays.includes(path)))(
  '%s accepts both cursor and limit',
  (_name, { query }) => {
    expect(Object.keys(query?.shape ?? {})).toEqual(expect.arrayContaining(['cursor', 'limit']));
  },
);
