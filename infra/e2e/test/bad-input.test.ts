import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { createSigner, generateKeySets } from '@attribution/auth';
import { endpoints, type ProblemDetails, problemKindOf, problemKinds } from '@attribution/contracts';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fromSomewhere, newOwner, startTestPlatform, type TestPlatform } from './support.ts';

let platform: TestPlatform;
let owner: Awaited<ReturnType<typeof newOwner>>;
const webhookSecret = 'whsec_of_these_tests';
beforeAll(async () => {
  platform = await startTestPlatform({ STRIPE_WEBHOOK_SECRETS: webhookSecret });
  owner = await newOwner(platform);
});
afterAll(() => platform.stop());

interface Raw {
  readonly method?: string;
  readonly path: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Record<string, string>;
  readonly token?: string | null;
}

/** Sends a request without normalizing its path, by default as the owner; from a new address, so that no rate limit applies. */
async function send({ method = 'POST', path, body, headers, token = owner.session.access_token }: Raw) {
  const { hostname, port } = new URL(platform.url);
  const sent = request({
    hostname,
    port,
    method,
    path,
    headers: {
      'content-type': 'application/json',
      ...fromSomewhere(),
      ...(token && { authorization: `Bearer ${token}` }),
      ...headers,
    },
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const answer = await text(response);
  const status = response.statusCode ?? 0;
  return {
    status,
    headers: response.headers,
    problem: status < 400 ? undefined : (JSON.parse(answer) as ProblemDetails),
  };
}

/** Checks what every refusal must have by RFC 9457 and spec §7. */
function expectProblem(
  answer: Awaited<ReturnType<typeof send>>,
  kind: keyof typeof problemKinds,
  detail?: string | RegExp,
) {
  expect(answer.problem && problemKindOf(answer.problem)).toBe(kind);
  expect(answer.status).toBe(problemKinds[kind].status);
  expect(answer.problem?.status).toBe(answer.status);
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect(answer.headers['x-request-id']).toBeTruthy();
  if (detail !== undefined) expect(answer.problem?.detail).toMatch(detail);
}

const campaigns = () => platform.rows<{ count: number }>('campaign', 'SELECT count(*)::int FROM campaigns');
const nested = (depth: number) => `{"name":"x","metadata":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`;

test.each<[string, string | Uint8Array, Record<string, string>, RegExp]>([
  ['a body that is not JSON', '{"name":', {}, /^body: is not valid JSON/],
  ['no body', '', {}, /^body: is required/],
  ['an array', '[]', {}, /^body: must be an object/],
  ['a number as a name', '{"name":7}', {}, /^body\.name: must be text, not 7/],
  ['an empty name', '{"name":"  "}', {}, /^body\.name: must not be empty/],
  ['a missing name', '{}', {}, /^body\.name: is required/],
  ['a NUL byte', '{"name":"a\\u0000b"}', {}, /^body\.name: contains a NUL/],
  ['half of a surrogate pair', '{"name":"\\ud800"}', {}, /^body\.name: contains half/],
  ['a NUL in a name of a field', '{"name":"x","metadata":{"a\\u0000":1}}', {}, /NUL/],
  ['deep nesting', nested(40), {}, /nested deeper than 32/],
  ['very deep nesting', nested(100_000), {}, /nested deeper than 32/],
  ['a number out of range', '{"name":"x","priority":1e999}', {}, /^body\.priority: is a number out of range/],
  ['a huge integer', '{"name":"x","priority":9007199254740993}', {}, /^body\.priority: /],
  ['a fraction for an integer', '{"name":"x","priority":1.5}', {}, /^body\.priority: must be a whole number/],
  [
    'a date that does not exist',
    '{"name":"x","start_date":"2026-02-30"}',
    {},
    /^body\.start_date: must be a calendar date/,
  ],
  [
    'dates the wrong way round',
    '{"name":"x","start_date":"2026-03-02","end_date":"2026-03-01"}',
    {},
    /^body\.end_date: 2026-03-01/,
  ],
  ['2 MiB', JSON.stringify({ name: 'x'.repeat(2 * 1024 * 1024) }), {}, /^body: is larger than 1048576 bytes/],
  ['invalid UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), {}, /^body: is not valid UTF-8/],
  [
    'another content type',
    '{"name":"x"}',
    { 'content-type': 'text/plain' },
    /^Content-Type: must be application\/json/,
  ],
  ['another charset', '{"name":"x"}', { 'content-type': 'application/json; charset=utf-16' }, /^Content-Type/],
  ['an unknown content encoding', '{"name":"x"}', { 'content-encoding': 'compress' }, /^Content-Encoding/],
])('400: %s is refused, the value named, and nothing is written', async (_what, body, headers, detail) => {
  const before = await campaigns();
  expectProblem(await send({ path: '/v2/campaigns', body, headers }), 'validation-error', detail);
  expect(await campaigns()).toEqual(before);
});

const imports = () => platform.rows<{ count: number }>('organization', 'SELECT count(*)::int FROM estate_imports');
const csv = { 'content-type': 'text/csv' };
const ndjson = { 'content-type': 'application/x-ndjson' };

test.each<[string, string | Uint8Array, Record<string, string>, RegExp]>([
  ['no file', '', csv, /^body: is required/],
  ['JSON', '[]', {}, /^Content-Type: must be one of text\/csv, application\/x-ndjson/],
  [
    'another charset',
    'kind,external_id\n',
    { 'content-type': 'text/csv; charset=latin1' },
    /^Content-Type: the charset/,
  ],
  ['a file that is compressed', 'kind', { ...csv, 'content-encoding': 'gzip' }, /^Content-Encoding: is not supported/],
  ['a header alone', 'kind,external_id,name\n', csv, /^body: has no rows/],
  ['a first row that is not a header', 'group,CH,Switzerland\n', csv, /^row 1: /],
  ['an unknown column', 'kind,external_id,colour\ngroup,CH,red\n', csv, /^row 1: .*colour.* is not a column/],
  [
    'a column twice',
    'kind,kind,external_id\ngroup,group,CH\n',
    csv,
    /^row 1: the column .*kind.* is named more than once/,
  ],
  ['invalid UTF-8', new Uint8Array([0x6b, 0xff, 0xfe, 0x0a]), csv, /^row 1: /],
  ['only empty lines', '\n\n', ndjson, /^body: has no rows/],
])('400: %s instead of an estate file is refused, and nothing is stored', async (_what, body, headers, detail) => {
  expectProblem(await send({ path: '/v2/estate/imports', body, headers }), 'validation-error', detail);
  expect(await imports()).toEqual([{ count: 0 }]);
});

const notification = JSON.stringify({
  id: 'evt_1',
  object: 'event',
  type: 'payment_intent.succeeded',
  created: 1_780_000_000,
  data: { object: { id: 'pi_1', object: 'payment_intent' } },
});
/** The header that signs a body, with a timestamp `ago` seconds in the past. */
function signed(body: string | Uint8Array, { secret = webhookSecret, ago = 0 } = {}): Record<string, string> {
  const time = Math.floor(Date.now() / 1000) - ago;
  return {
    'stripe-signature': `t=${time},v1=${createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex')}`,
  };
}
const notify = (body: string | Uint8Array, headers: Record<string, string>) =>
  send({ path: '/webhooks/stripe', token: null, body, headers });
const notified = () => platform.rows('billing', 'SELECT id FROM provider_events');

const large = JSON.stringify({ ...JSON.parse(notification), padding: 'x'.repeat(2 * 1024 * 1024) });
const unsigned = /^Stripe-Signature: does not sign this body/;
test.each<[string, string | Uint8Array, Record<string, string>, RegExp]>([
  ['without a signature', notification, {}, unsigned],
  ['with half a signature', notification, { 'stripe-signature': 't=1780000000' }, unsigned],
  ['with a malformed signature', notification, { 'stripe-signature': 'v1=,t=,=,,v1' }, unsigned],
  ['signed by a stranger', notification, signed(notification, { secret: 'whsec_of_a_stranger' }), unsigned],
  ['that was changed after it was signed', `${notification} `, signed(notification), unsigned],
  ['that was recorded six minutes ago', notification, signed(notification, { ago: 360 }), unsigned],
  ['of no bytes', '', signed(''), unsigned],
  ['that is signed but not JSON', '{"id":', signed('{"id":'), unsigned],
  ['that is signed but not a notification', '[1]', signed('[1]'), unsigned],
  ['of 2 MiB', large, signed(large), /^body: is larger than 262144 bytes/],
  [
    'of an unknown content encoding',
    notification,
    { ...signed(notification), 'content-encoding': 'compress' },
    /^Content-Encoding/,
  ],
])('400: a notification %s is refused, and nothing is written', async (_what, body, headers, detail) => {
  expectProblem(await notify(body, headers), 'validation-error', detail);
  expect(await notified()).toEqual([]);
});

test('200: a signed notification is stored once, whatever its content type and however often it is sent', async () => {
  for (const type of ['application/json', 'application/json; charset=utf-8', 'text/plain']) {
    const headers = { ...signed(notification), 'content-type': type };
    expect((await notify(notification, headers)).status).toBe(200);
  }
  expect(await notified()).toEqual([{ id: 'evt_1' }]);
});

test.each([
  ['/v2/campaigns?status=draft&status=published', /^query\.status: is given more than once/],
  ['/v2/campaigns?status=running', /^query\.status.*running/],
  ['/v2/campaigns?limit=0', /^query\.limit: must be at least 1/],
  ['/v2/campaigns?limit=201', /^query\.limit: must be at most 200/],
  ['/v2/campaigns?limit=-1', /^query\.limit/],
  ['/v2/campaigns?limit=ten', /^query\.limit: .*, not "ten"/],
  ['/v2/campaigns?limit=99999999999999999999', /^query\.limit/],
  ['/v2/campaigns?cursor=', /^query\.cursor/],
  ['/v2/campaigns?cursor=nonsense', /^query\.cursor/],
  ['/v2/campaigns?cursor=%00', /^query\.cursor/],
  ['/v2/campaigns?cursor=%ff%fe', /^query\.cursor/],
  ['/v2/locations?group_ids=grp_1', /^query\.group_ids/],
])('400: %s is refused and the parameter named', async (path, detail) => {
  expectProblem(await send({ method: 'GET', path }), 'validation-error', detail);
});

test.each([
  ['GET', '//v2/campaigns'],
  ['GET', '/v2//campaigns'],
  ['GET', '/v2/campaigns/'],
  ['GET', '/V2/campaigns'],
  ['GET', '/v2/Campaigns'],
  ['GET', '/v2/%63ampaigns'],
  ['GET', '/v2/x/%2e%2e/campaigns'],
  ['GET', '/v2%2fcampaigns'],
  ['GET', '/v1/campaigns'],
  ['GET', '/internal/v2/estate-snapshot'],
  ['GET', '/v2/device/config'],
  ['GET', '/webhooks/stripe'],
  ['POST', '/webhooks/stripe/'],
  ['POST', '/v2/webhooks/stripe'],
  ['POST', '/internal/v2/refunds'],
  ['PUT', '/v2/campaigns'],
  ['DELETE', '/v2/plans'],
  ['OPTIONS', '/v2/campaigns'],
  ['GET', '/v2/campaigns/%E0%A4%A'],
  ['GET', '/v2/campaigns/cmp_1'],
  ['GET', '/v2/campaigns/cmp_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f'],
  ['GET', '/v2/campaigns/a%2Fb'],
  ['GET', '/v2/accounts/acc_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f/ledger'],
])('404: %s %s has the same body as every unknown path', async (method, path) => {
  const answer = await send({ method, path });
  expectProblem(answer, 'not-found');
  expect(answer.problem).toEqual((await send({ method: 'GET', path: '/nowhere' })).problem);
});

function forgedTokens(): [string, string | null][] {
  const [header = '', payload = '', signature = ''] = owner.session.access_token.split('.');
  const json = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const { iss: _, aud: __, ...claims } = json(payload);
  const { kid } = json(header) as { kid: string };
  const stranger = createSigner(generateKeySets(kid).private);
  return [
    ['no token', null],
    ['garbage', 'garbage'],
    ['an unsigned token', `${part({ alg: 'none', typ: 'at+jwt', kid })}.${payload}.`],
    ['changed claims', `${header}.${part({ ...json(payload), role: 'admin' })}.${signature}`],
    ['a changed signature', `${header}.${payload}.${signature.slice(0, -4)}AAAA`],
    ["a stranger's key under our key's name", stranger.sign('at+jwt', claims, 900)],
    ['a token of two parts', `${header}.${payload}`],
    ['a token of 20 kB', `${header}.${'A'.repeat(12_000)}.${signature}`],
  ];
}

test('404: an id of 5,000 characters does not exist', async () => {
  expectProblem(await send({ method: 'GET', path: `/v2/campaigns/${'a'.repeat(5000)}` }), 'not-found');
});

test('401: forged and malformed tokens are refused by every endpoint that requires one', async () => {
  const closed = endpoints.filter((endpoint) => endpoint.access.credential !== 'none');
  for (const [what, token] of forgedTokens()) {
    for (const { method, path, access } of closed) {
      if (token === null && access.credential === 'optional') continue;
      const concrete = path.replaceAll(/\{[a-z_]+\}/g, 'cmp_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f');
      const answer = await send({
        method,
        path: concrete,
        token,
        ...((method === 'POST' || method === 'PATCH') && { body: '{}' }),
      });
      expect([what, method, path, answer.status]).toEqual([what, method, path, 401]);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    }
  }
});

test('401: MFA set-up tokens are not access tokens', async () => {
  await platform.rows(
    'account',
    `UPDATE accounts SET require_mfa = true WHERE id = '${owner.account_id}' RETURNING id`,
  );
  const body = JSON.stringify({ email: owner.email, password: 'a long walk at dawn' });
  const response = await fetch(`${platform.url}/v2/auth/login`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  });
  const { setup_token } = (await response.json()) as { setup_token: string };
  expect(setup_token).toBeTruthy();
  expectProblem(await send({ method: 'GET', path: '/v2/users/me', token: setup_token }), 'unauthorized');
});

test('HEAD works wherever GET does, with the same headers and no body', async () => {
  const get = await fetch(`${platform.url}/v2/plans`, {
    headers: { authorization: `Bearer ${owner.session.access_token}` },
  });
  const head = await fetch(`${platform.url}/v2/plans`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${owner.session.access_token}` },
  });
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect(head.headers.get('content-length')).toBe(String((await get.arrayBuffer()).byteLength));
});
