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

/** Answers `body` as the status, once `released` allows; so that any number of attempts can be in hand. */
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
const counted = (replies: Reply[], status: number) => replies.filter((reply) => reply.status === status).length;

test('429: ten failures, and then the right password is refused too, unseen by the service', async () => {
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

test('successes do not count: twenty pass one by one, and ten failures are still allowed', async () => {
  const ip = newIp();
  await times(20, async () => expect((await login(ip, right)).status).toBe(200));
  await times(10, async () => expect((await login(ip, wrong)).status).toBe(401));
  expectProblem(await login(ip, wrong), 'rate-limited');
});

test('a success does not reset what has failed', async () => {
  const ip = newIp();
  await times(9, () => login(ip, wrong));
  expect((await login(ip, right)).status).toBe(200);
  expect((await login(ip, wrong)).status).toBe(401);
  expectProblem(await login(ip, right), 'rate-limited');
});

test('twenty good logins at once pass', async () => {
  const ip = newIp();
  const replies = await Promise.all(range(20).map(() => login(ip, right)));
  expect(replies.map(({ status }) => status)).toEqual(range(20).map(() => 200));
});

test('twenty good logins at once pass also where nine have failed before', async () => {
  const ip = newIp();
  await times(9, () => login(ip, wrong));
  const replies = await Promise.all(range(20).map(() => login(ip, right)));
  expect(replies.map(({ status }) => status)).toEqual(range(20).map(() => 200));
});

test('429: of fifty wrong logins at once at most ten reach the service', async () => {
  const ip = newIp();
  hold();
  const replies = Promise.all(range(50).map(() => login(ip, wrong)));
  await eventually(() => expect(upstream.seen).toHaveLength(10));
  release();
  expect(counted(await replies, 401)).toBe(10);
  expect(counted(await replies, 429)).toBe(40);
  expect(upstream.started).toHaveLength(10);
});

test('429: wrong and right at once: the failures are ten at most, and what is refused is refused after them', async () => {
  const ip = newIp();
  const replies = await Promise.all(range(60).map((n) => login(ip, n % 2 === 0 ? wrong : right)));
  expect(counted(replies, 401)).toBe(10);
  expectProblem(await login(ip, right), 'rate-limited');
});

test('429: more attempts at once than may wait are told so, with the headers of every 429', async () => {
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
  'an answer of %d by the service does not count',
  async (status) => {
    const ip = newIp();
    await times(12, async () => expect((await login(ip, status)).status).toBe(status === cut ? 502 : status));
    expect((await login(ip, right)).status).toBe(200);
  },
);

/** A client that goes away as soon as `arrived` says so; resolves when the gateway has noticed. */
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

test('clients that go away while the service thinks leave no place taken', async () => {
  const ip = newIp();
  hold();
  for (const n of range(12)) await abandon(ip, {}, () => eventually(() => expect(upstream.seen).toHaveLength(n + 1)));
  release();
  await twentyPass(ip);
});

test('clients that go away in the middle of their body leave no place taken', async () => {
  const ip = newIp();
  const headers = { 'content-length': '100' };
  for (const n of range(12))
    await abandon(ip, headers, () => eventually(() => expect(upstream.started).toHaveLength(n + 1)));
  await twentyPass(ip);
});

test('clients that go away while they wait for their turn leave no place taken, and their attempts are not made', async () => {
  const ip = newIp();
  hold();
  const inHand = range(10).map(() => login(ip, right));
  await eventually(() => expect(upstream.seen).toHaveLength(10));
  // The gateway says `100 Continue` as it begins with a request.
  for (const _ of range(15)) await abandon(ip, { expect: '100-continue' }, (req) => once(req, 'continue'));
  const last = login(ip, right);
  release();
  for (const reply of await Promise.all([...inHand, last])) expect(reply.status).toBe(200);
  expect(upstream.started).toHaveLength(11);
  await twentyPass(ip);
});
