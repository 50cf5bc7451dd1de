import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { eventually } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  expectProblem,
  newIp,
  type Reply,
  range,
  startGateway,
  startUpstream,
  type TestGateway,
  type Upstream,
} from './support.ts';

/** The service responds with the status in `body` when `released` resolves, so that attempts can be held in progress. */
let released: Promise<void>;
let release: () => void;
let upstream: Upstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream(async (res, { body }) => {
    const status = Number(body);
    if (status === 401 || status === 200) await released;
    if (status === 0) res.destroy();
    else res.writeHead(status).end();
  });
  gateway = await startGateway(upstream);
});
beforeEach(() => {
  upstream.started.splice(0);
  upstream.seen.splice(0);
  released = Promise.resolve();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

function hold(): void {
  const held = Promise.withResolvers<void>();
  released = held.promise;
  release = held.resolve;
}

const path = '/v2/auth/login';
const right = 200;
const wrong = 401;
const cut = 0;
const login = (ip: string, status: number) => gateway.send(path, { method: 'POST', ip, body: String(status) });
const times = async (count: number, attempt: () => Promise<unknown>) => {
  for (const _ of range(count)) await attempt();
};
const countOf = (replies: Reply[], status: number) => replies.filter((reply) => reply.status === status).length;

test('429: after ten failures the right password is refused too, and does not reach the service', async () => {
  const ip = newIp();
  await times(10, async () => expect((await login(ip, wrong)).status).toBe(401));
  const refused = await login(ip, right);
  const reset = String(refused.headers['ratelimit-reset']);
  expectProblem(refused, 'rate-limited', `Try again in ${reset} s`);
  expect(refused.headers).toMatchObject({ 'ratelimit-limit': '10', 'ratelimit-remaining': '0', 'retry-after': reset });
  expect(Number(reset)).toBeGreaterThan(870);
  expect(Number(reset)).toBeLessThanOrEqual(900);
  expect(upstream.seen).toHaveLength(10);
});

test('successes do not count: twenty pass in sequence, and ten failures are still allowed', async () => {
  const ip = newIp();
  await times(20, async () => expect((await login(ip, right)).status).toBe(200));
  await times(10, async () => expect((await login(ip, wrong)).status).toBe(401));
  expectProblem(await login(ip, wrong), 'rate-limited');
});

test('a success does not reset the count of failures', async () => {
  const ip = newIp();
  await times(9, () => login(ip, wrong));
  expect((await login(ip, right)).status).toBe(200);
  expect((await login(ip, wrong)).status).toBe(401);
  expectProblem(await login(ip, right), 'rate-limited');
});

test('twenty parallel successful logins pass', async () => {
  const ip = newIp();
  const replies = await Promise.all(range(20).map(() => login(ip, right)));
  expect(replies.map(({ status }) => status)).toEqual(range(20).map(() => 200));
});

test('twenty parallel successful logins pass even after nine failures', async () => {
  const ip = newIp();
  await times(9, () => login(ip, wrong));
  const replies = await Promise.all(range(20).map(() => login(ip, right)));
  expect(replies.map(({ status }) => status)).toEqual(range(20).map(() => 200));
});

test('429: of fifty parallel wrong logins at most ten reach the service', async () => {
  const ip = newIp();
  hold();
  const replies = Promise.all(range(50).map(() => login(ip, wrong)));
  await eventually(() => expect(upstream.seen).toHaveLength(10));
  release();
  expect(countOf(await replies, 401)).toBe(10);
  expect(countOf(await replies, 429)).toBe(40);
  expect(upstream.started).toHaveLength(10);
});

test('429: of parallel wrong and right logins exactly ten fail, and later ones are refused', async () => {
  const ip = newIp();
  const replies = await Promise.all(range(60).map((n) => login(ip, n % 2 === 0 ? wrong : right)));
  expect(countOf(replies, 401)).toBe(10);
  expectProblem(await login(ip, right), 'rate-limited');
});

test('429: parallel attempts beyond those that may wait are refused, with the headers of every 429', async () => {
  const ip = newIp();
  hold();
  const refused: Reply[] = [];
  const attempts = range(130).map(async () => {
    const reply = await login(ip, right);
    if (reply.status === 429) refused.push(reply);
    return reply.status;
  });
  await eventually(() => expect(refused).toHaveLength(20));
  for (const reply of refused) {
    expectProblem(reply, 'rate-limited', 'Too many attempts at once');
    const { headers } = reply;
    expect(headers).toMatchObject({
      'retry-after': '1',
      'ratelimit-limit': '10',
      'ratelimit-remaining': '10',
      'ratelimit-reset': '0',
    });
  }
  release();
  expect((await Promise.all(attempts)).filter((status) => status === 200)).toHaveLength(110);
});

test.each([400, 403, 404, 409, 422, 429, 500, 502, 503, cut])(
  'a response of %d from the service does not count',
  async (status) => {
    const ip = newIp();
    await times(12, async () => expect((await login(ip, status)).status).toBe(status === cut ? 502 : status));
    expect((await login(ip, right)).status).toBe(200);
  },
);

/** A client that disconnects when `arrived` resolves. Resolves when the gateway has noticed. */
async function abandon(ip: string, headers: object, arrived: (req: ClientRequest) => Promise<unknown>): Promise<void> {
  const before = await gateway.count('http_requests_total');
  const req = request({
    port: gateway.port,
    path,
    method: 'POST',
    agent: false,
    headers: { 'x-forwarded-for': ip, ...headers },
  });
  req.on('error', () => {});
  req.write(String(wrong));
  if (!('content-length' in headers)) req.end();
  await arrived(req);
  req.destroy();
  await eventually(async () => expect(await gateway.count('http_requests_total')).toBeGreaterThan(before));
}

const twentyPass = async (ip: string) => {
  const replies = await Promise.all(range(20).map(() => login(ip, right)));
  expect(replies.map(({ status }) => status)).toEqual(range(20).map(() => 200));
};

test('clients that disconnect while the service works leave no slot taken', async () => {
  const ip = newIp();
  hold();
  for (const n of range(12)) await abandon(ip, {}, () => eventually(() => expect(upstream.seen).toHaveLength(n + 1)));
  release();
  await twentyPass(ip);
});

test('clients that disconnect in the middle of their body leave no slot taken', async () => {
  const ip = newIp();
  const headers = { 'content-length': '100', expect: '100-continue' };
  for (const _ of range(12)) await abandon(ip, headers, (req) => once(req, 'continue'));
  expect(upstream.started).toEqual([]);
  await twentyPass(ip);
});

test('clients that disconnect while they wait leave no slot taken, and their attempts are not made', async () => {
  const ip = newIp();
  hold();
  const inProgress = range(10).map(() => login(ip, right));
  await eventually(() => expect(upstream.seen).toHaveLength(10));
  // The gateway sends `100 Continue` when it starts to handle a request.
  for (const _ of range(15)) await abandon(ip, { expect: '100-continue' }, (req) => once(req, 'continue'));
  const last = login(ip, right);
  release();
  for (const reply of await Promise.all([...inProgress, last])) expect(reply.status).toBe(200);
  expect(upstream.started).toHaveLength(11);
  await twentyPass(ip);
});
