import { notFoundDetail } from '@attribution/contracts';
import { personToken } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectProblem, startGateway, startUpstream, type TestGateway, type Upstream } from './support.ts';

let upstream: Upstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway(upstream);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const token = personToken();
const id = 'grp_0190a1b2-0000-7000-8000-000000000000';

const unknown: [string, string][] = [
  ['an unknown path', 'GET /v2/nothing'],
  ['a prefix of a path', 'GET /v2'],
  ['more than a path', `GET /v2/groups/${id}/more`],
  ['a wrong method', 'DELETE /v2/plans'],
  ['a wrong method on a credential endpoint', 'GET /v2/auth/login'],
  ['PUT on a path without it', `PUT /v2/groups/${id}`],
  ['TRACE', 'TRACE /v2/plans'],
  ['a WebDAV method', 'PROPFIND /v2/plans'],
  ['OPTIONS without CORS', 'OPTIONS /v2/plans'],
  ['HEAD of a path without GET', 'HEAD /v2/auth/login'],
  ['version 1', 'GET /v1/plans'],
  ['no version', 'GET /plans'],
  ['an Internal path', 'POST /internal/v2/token-grants'],
  ['an Internal path below the version', 'GET /v2/internal/plans'],
  ['a device path', 'POST /v2/device/heartbeat'],
  ['the health of a service', 'GET /v2/readyz'],
  ['the metrics of a service', 'GET /metrics'],
  ['a webhook of an unknown provider', 'POST /webhooks/paypal'],
  ['GET of a webhook', 'GET /webhooks/stripe'],
  ['doubled slashes', 'GET //v2/plans'],
  ['doubled slashes within', 'GET /v2//plans'],
  ['a trailing slash', 'GET /v2/plans/'],
  ['a trailing slash for an id', 'GET /v2/groups/'],
  ['upper case', 'GET /V2/plans'],
  ['upper case within', 'GET /v2/Plans'],
  ['..', `GET /v2/groups/../plans`],
  ['.. for an id', 'GET /v2/groups/..'],
  ['. for an id', 'GET /v2/groups/.'],
  ['%2e%2e', 'GET /v2/groups/%2e%2e'],
  ['%2E%2E within', 'GET /v2/groups/%2E%2E/plans'],
  ['an encoded slash', 'GET /v2%2fplans'],
  ['an encoded slash in an id', `GET /v2/groups/${id}%2f..`],
  ['an encoded letter', 'GET /v2/plan%73'],
  ['an encoded NUL', `GET /v2/groups/${id}%00`],
  ['broken percent-encoding', 'GET /v2/groups/%zz'],
  ['a backslash', 'GET /v2\\plans'],
  ['a path parameter', 'GET /v2/plans;a=1'],
  ['a matrix parameter in an id', `GET /v2/groups/${id};a=1`],
  ['a fragment', 'GET /v2/plans#top'],
  ['an encoded question mark', 'GET /v2/plans%3flimit=1'],
  ['an absolute-form target', 'GET http://127.0.0.1/v2/plans'],
  ['an absolute-form target of another host', 'GET http://internal.example/v2/plans'],
  ['an absolute-form target of another scheme', 'GET file:///v2/plans'],
  ['*', 'OPTIONS *'],
  ['an empty id', 'GET /v2/accounts//ledger'],
  ['an inherited name', 'GET /v2/__proto__'],
  ['a very long path', `GET /v2/${'a'.repeat(8_000)}`],
];

test.each(unknown)(
  '404: %s gets the same response as every unknown path and reaches no service',
  async (_what, line) => {
    const [method = '', path = ''] = line.split(' ');
    const before = upstream.started.length;
    const known = await gateway.send('/v2/nothing', { token });
    const reply = await gateway.send(path, { method, token, headers: { 'x-request-id': 'the-same-id' } });
    if (method === 'HEAD') {
      expect(reply).toMatchObject({ status: 404, headers: { 'content-length': String(known.body.length) } });
      expect(reply.body).toHaveLength(0);
    } else {
      expectProblem(reply, 'not-found', notFoundDetail);
      expect(reply.body).toEqual(known.body);
    }
    expect(reply.headers).toMatchObject({ 'x-request-id': 'the-same-id', 'cache-control': 'no-store' });
    expect(upstream.started).toHaveLength(before);
  },
);

test('404: an unknown path needs no token, and an invalid one changes nothing', async () => {
  for (const sending of [{}, { token: 'garbage' }]) {
    expectProblem(await gateway.send('/v2/nothing', sending), 'not-found', notFoundDetail);
    expectProblem(await gateway.send('/v2/plans', { ...sending, method: 'DELETE' }), 'not-found', notFoundDetail);
  }
});

const reads = ['/v2/plans', '/v2/groups', `/v2/groups/${id}`, '/v2/campaigns', '/v2/billing', '/v2/users/me'];

test.each(reads)('HEAD %s is served like GET, and forwarded as HEAD', async (path) => {
  const got = await gateway.send(path, { token });
  const head = await gateway.send(path, { method: 'HEAD', token });
  expect(head.status).toBe(200);
  expect(head.headers['content-type']).toBe(got.headers['content-type']);
  expect(head.body).toHaveLength(0);
  expect(upstream.seen.slice(-2).map(({ method, url }) => [method, url])).toEqual([
    ['GET', path],
    ['HEAD', path],
  ]);
});

const queries = [
  '',
  '?',
  '?limit=1&cursor=a%2Fb',
  '?a=1&a=2',
  '?next=/../../internal',
  '??x',
  '?a#b',
  '?q=%zz',
  "?q='%00;--",
];

test.each(queries)('the query %j does not affect matching and is forwarded byte for byte', async (query) => {
  const reply = await gateway.send(`/v2/plans${query}`, { token });
  expect(reply.status).toBe(200);
  expect(upstream.seen.at(-1)?.url).toBe(`/v2/plans${query}`);
});
