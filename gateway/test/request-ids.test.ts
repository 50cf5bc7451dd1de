import { forgotPassword } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { personToken } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newIp, range, startGateway, startUpstream, type TestGateway, type Upstream } from './support.ts';

let upstream: Upstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream((res, { headers }) => {
    if (headers['x-test-id'] !== undefined) res.setHeader('x-request-id', String(headers['x-test-id']));
    if (headers['x-test-cut'] !== undefined) res.destroy();
    else res.end();
  });
  gateway = await startGateway(upstream, { CORS_ORIGINS: 'https://app.example' });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const token = personToken();
const uuidv7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

test.each(['12345678', 'Trace.of_this-one', 'a'.repeat(128)])(
  'a valid request id is kept and forwarded to the service: %s',
  async (id) => {
    const reply = await gateway.send('/v2/plans', { token, headers: { 'x-request-id': id } });
    expect(reply.headers['x-request-id']).toBe(id);
    expect(upstream.seen.at(-1)?.headers['x-request-id']).toBe(id);
  },
);

test.each([
  ['too short', '1234567'],
  ['too long', 'a'.repeat(129)],
  ['several words', 'two words here'],
  ['empty', ''],
  ['not ASCII', 'caf\u00e9-caf\u00e9'],
  ['markup', '<script>alert(1)</script>'],
  ['JSON that would forge a log line', '","level":"50","x":"'],
  ['a list', 'first-id-1, second-id-2'],
])('a request id that is %s is replaced by a UUIDv7', async (_what, id) => {
  const reply = await gateway.send('/v2/plans', { token, headers: { 'x-request-id': id } });
  expect(reply.headers['x-request-id']).toMatch(uuidv7);
  expect(upstream.seen.at(-1)?.headers['x-request-id']).toBe(reply.headers['x-request-id']);
});

test('two requests without an id get different ids', async () => {
  const [one, other] = await Promise.all([gateway.send('/v2/plans', { token }), gateway.send('/v2/plans', { token })]);
  expect(one.headers['x-request-id']).toMatch(uuidv7);
  expect(other.headers['x-request-id']).toMatch(uuidv7);
  expect(one.headers['x-request-id']).not.toBe(other.headers['x-request-id']);
});

test("a service's own request id does not replace the gateway's", async () => {
  const reply = await gateway.send('/v2/plans', {
    token,
    headers: { 'x-request-id': 'the-gateways', 'x-test-id': 'another-one' },
  });
  expect(reply.headers['x-request-id']).toBe('the-gateways');
});

test('every kind of response carries the request id', async () => {
  const ip = newIp();
  const headers = { 'x-request-id': 'in-every-response' };
  const limit = forgotPassword.rate_limit.limit;
  await Promise.all(range(limit).map(() => gateway.send(forgotPassword.path, { method: 'POST', ip })));
  const origin = 'https://app.example';
  const replies = await Promise.all([
    gateway.send('/v2/plans', { headers, token }),
    gateway.send('/v2/plans', { headers }),
    gateway.send('/v2/nothing', { headers }),
    gateway.send(forgotPassword.path, { headers, ip, method: 'POST' }),
    gateway.send(`/v2/groups/${newId('group')}`, { headers: { ...headers, 'x-test-cut': '1' }, token }),
    gateway.send('/v2/plans', {
      headers: { ...headers, origin, 'access-control-request-method': 'GET' },
      method: 'OPTIONS',
    }),
    gateway.send('/v2/openapi.json', { headers }),
    gateway.send('/healthz', { headers }),
  ]);
  expect(replies.map(({ status }) => status)).toEqual([200, 401, 404, 429, 502, 204, 200, 200]);
  for (const reply of replies) expect(reply.headers['x-request-id']).toBe('in-every-response');
});

test('the log names a request by its id, operation, account and actor, without its path or token', async () => {
  const [group, account, sub] = [newId('group'), newId('account'), newId('user')];
  const token = personToken({ account, sub });
  await gateway.send(`/v2/groups/${group}?secret=1`, { token, headers: { 'x-request-id': 'logged-request' } });
  const line = gateway.logs
    .text()
    .split('\n')
    .find((text) => text.includes('logged-request'));
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    request_id: 'logged-request',
    account,
    actor: sub,
    operation: 'get_group',
    status: 200,
    method: 'GET',
  });
  expect(gateway.logs.text()).not.toContain(group);
  expect(gateway.logs.text()).not.toContain(token);
});

test('the trace context of the caller is forwarded; a malformed one is replaced', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await gateway.send('/v2/plans', { token, headers: { traceparent } });
  expect(upstream.seen.at(-1)?.headers.traceparent).toBe(traceparent);
  for (const bad of ['00-1-1-01', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, 'x']) {
    await gateway.send('/v2/plans', { token, headers: { traceparent: bad } });
    expect(upstream.seen.at(-1)?.headers.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(upstream.seen.at(-1)?.headers.traceparent).not.toBe(bad);
  }
});
