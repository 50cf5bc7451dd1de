import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { endpoints, isAnonymous } from '@attribution/contracts';
import { eventually, personToken } from '@attribution/testing';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { newIp, range, startGateway, startUpstream, type TestGateway, type Upstream } from './support.ts';

/** The largest body where no token is needed. */
const limit = 16 * 1024;
/** The budget, of which a client gets an eighth: eight such bodies. */
const budget = 64 * limit;
const connectionsPerClient = 4;
const login = '/v2/auth/login';

let upstream: Upstream;
/** It trusts this machine, as if a balancer ran on it. */
let gateway: TestGateway;
/** To it, this machine is a client. */
let facing: TestGateway;
let responding: Promise<unknown> = Promise.resolve();
beforeAll(async () => {
  upstream = await startUpstream(async (res) => {
    await responding;
    res.end('{}');
  });
  const environment = { BODY_BUDGET_BYTES: String(budget), CONNECTIONS_PER_CLIENT: '40' };
  gateway = await startGateway(upstream, environment);
  const few = { CONNECTIONS_PER_CLIENT: String(connectionsPerClient), TRUSTED_PROXIES: '10.0.0.1' };
  facing = await startGateway(upstream, few);
});
afterAll(async () => {
  await gateway.stop();
  await facing.stop();
  await upstream.stop();
});

let undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo) await step();
  undo = [];
});

/** A POST whose body the test writes. */
function open(headers: Record<string, string>, path = login): ClientRequest {
  const { port } = gateway;
  const json = { 'content-type': 'application/json' };
  const req = request({ port, path, method: 'POST', agent: false, headers: { ...json, ...headers } });
  undo.push(() => req.destroy());
  req.on('error', () => {}).flushHeaders();
  return req;
}

async function answerOf(req: ClientRequest) {
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of res) text += String(chunk);
  const { detail } = JSON.parse(text) as { detail?: string };
  return { status: res.statusCode, retryAfter: res.headers['retry-after'], detail };
}

const bodyBytes = async () => (await gateway.metrics()).find(({ name }) => name === 'body_bytes')?.values[0]?.value;

test('400: where no token is needed, a body beyond 16 KiB is refused from its length, before any of it is sent', async () => {
  const before = upstream.started.length;
  const refused = await answerOf(open({ 'content-length': String(limit + 1) }));
  expect(refused).toMatchObject({ status: 400, detail: `body: is larger than ${limit} bytes.` });
  expect(upstream.started).toHaveLength(before);
});

test('400: in chunks it is refused as soon as it passes 16 KiB, while the client still sends', async () => {
  const before = upstream.started.length;
  const req = open({});
  req.write(Buffer.alloc(limit));
  req.write('x');
  expect(await answerOf(req)).toMatchObject({ status: 400, detail: `body: is larger than ${limit} bytes.` });
  expect(upstream.started).toHaveLength(before);
});

test('16 KiB reach the service unchanged, with a length and in chunks', async () => {
  const body = Buffer.alloc(limit, '0123456789abcde');
  for (const headers of [{ 'content-length': String(limit) }, {}]) {
    const req = open({ ...headers, 'x-forwarded-for': newIp() } as Record<string, string>);
    for (const piece of range(4)) req.write(body.subarray((piece * limit) / 4, ((piece + 1) * limit) / 4));
    req.end();
    expect(await answerOf(req)).toMatchObject({ status: 200 });
    expect(upstream.seen.at(-1)?.body.equals(body)).toBe(true);
  }
});

test('only notifications of the payment provider may be larger without a token', () => {
  const larger = endpoints.filter((e) => isAnonymous(e) && e.max_body_bytes !== undefined);
  expect(larger.map(({ operation, max_body_bytes }) => [operation, max_body_bytes])).toEqual([
    ['receive_stripe_webhook', 256 * 1024],
  ]);
});

test('bodies that stall without a token hold a client’s share at most, reach no service, and others are answered', async () => {
  const before = upstream.started.length;
  const attacker = { 'x-forwarded-for': newIp() };
  const stalled = range(30).map(() => {
    const req = open({ ...attacker, 'content-length': String(limit) });
    req.write(Buffer.alloc(limit - 1));
    return { req, answer: answerOf(req).catch(() => undefined) };
  });
  let refused = 0;
  for (const { answer } of stalled)
    void answer.then((found) => {
      if (found?.status === 503 && found.retryAfter === '2') refused++;
    });
  await eventually(() => expect(refused).toBe(22));
  expect(await bodyBytes()).toBe(budget / 8);
  expect(upstream.started).toHaveLength(before);
  const honest = open({ 'x-forwarded-for': newIp() });
  honest.end('{}');
  expect((await answerOf(honest)).status).toBe(200);
  expect(upstream.started).toHaveLength(before + 1);

  for (const { req } of stalled) req.destroy();
  await eventually(async () => expect(await bodyBytes()).toBe(0));
  const again = open(attacker);
  again.end('{}');
  expect((await answerOf(again)).status).toBe(200);
});

test.each([
  ['bodies', '/v2/campaigns', 'application/json', 8],
  ['uploads', '/v2/estate/imports', 'application/x-ndjson', 2],
])(
  '%s of a credential that are still arriving reach the service a few at a time, and those of others meanwhile',
  async (_what, path, type, atOnce) => {
    const before = upstream.started.length;
    const [mine, theirs] = [personToken(), personToken()];
    const begin = (token: string) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': type, 'content-length': '8' };
      const req = open(headers, path);
      req.write('{"a"');
      return { req, answer: answerOf(req) };
    };
    const began = performance.now();
    const sent = range(12).map(() => begin(mine));
    await eventually(() => expect(upstream.started).toHaveLength(before + atOnce));
    for (const n of range(2)) {
      const other = begin(theirs);
      await eventually(() => expect(upstream.started).toHaveLength(before + atOnce + 1 + n));
      other.req.end(':"b"');
      expect((await other.answer).status).toBe(200);
    }
    expect(upstream.started).toHaveLength(before + atOnce + 2);
    for (const { req } of sent) req.end(':"b"');
    const statuses = (await Promise.all(sent.map(({ answer }) => answer))).map(({ status }) => status);
    const served = statuses.filter((status) => status === 200).length;
    expect(statuses.filter((status) => status === 503)).toHaveLength(sent.length - served);
    // Who waits for eight seconds is given up: on a machine that is too busy, only those that have reached the service are served.
    expect(served).toBeGreaterThanOrEqual(performance.now() - began < 8_000 ? sent.length : atOnce);
  },
);

test('the rest of refused bodies is discarded in turn, whatever comes first, and each connection brings its next request', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  undo.push(() => agent.destroy());
  const post = (path: string, token: string, body: Buffer) => {
    const headers = { authorization: `Bearer ${token}`, 'content-length': String(body.length) };
    const req = request({ port: gateway.port, path, method: 'POST', agent, headers });
    req.end(body);
    return answerOf(req);
  };
  const refused = await Promise.all(range(8).map(() => post('/v2/campaigns', 'none', Buffer.alloc(1_000_000))));
  expect(refused.map(({ status }) => status)).toEqual(range(8).map(() => 401));
  const next = await Promise.all(range(8).map(() => post('/v2/campaigns', personToken(), Buffer.from('{}'))));
  expect(next.map(({ status }) => status)).toEqual(range(8).map(() => 200));
  expect(Object.values(agent.sockets).flat().length + Object.values(agent.freeSockets).flat().length).toBe(8);
});

/** A connection, and whether the other side has ended it. */
function connection(localAddress = '127.0.0.1'): { socket: Socket; gone: () => boolean } {
  let gone = false;
  const socket = connect({ port: facing.port, host: '127.0.0.1', localAddress });
  socket.on('error', () => {}).on('close', () => (gone = true));
  undo.push(() => socket.destroy());
  return { socket, gone: () => gone };
}

const speaks = async ({ socket }: { socket: Socket }) => {
  socket.write('GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(String((await once(socket, 'data'))[0])).toContain('HTTP/1.1 200');
};

test('connections of one address beyond the cap are reset and counted, and those of another address are served', async () => {
  const before = await facing.count('clients_refused_total');
  const kept = range(connectionsPerClient).map(() => connection());
  for (const one of kept) await speaks(one);
  const more = range(6).map(() => connection());
  for (const { gone } of more) await eventually(() => expect(gone()).toBe(true));
  expect(await facing.count('clients_refused_total')).toBe(before + 6);
  await speaks(connection('127.0.0.2'));
  for (const one of kept) await speaks(one);

  kept[0]?.socket.destroy();
  await eventually(async () => {
    const next = connection();
    next.socket.write('GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n');
    await Promise.race([once(next.socket, 'data'), once(next.socket, 'close')]);
    expect(next.gone()).toBe(false);
  });
});

test('503: through a trusted proxy a client has as many requests in progress; an IPv6 client is its /64', async () => {
  const go = Promise.withResolvers<void>();
  responding = go.promise;
  const token = personToken();
  const send = (ip: string) => gateway.send('/v2/campaigns', { token, ip });
  const [own, other] = ['2001:db8:1:1', '2001:db8:1:2'];
  const before = upstream.seen.length;
  const waiting = range(40).map((n) => send(`${own}::${n + 1}`));
  await eventually(() => expect(upstream.seen).toHaveLength(before + 40));
  const refused = await send(`${own}::ffff`);
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
  const others = send(`${other}::1`);
  await eventually(() => expect(upstream.seen).toHaveLength(before + 41));
  go.resolve();
  for (const reply of await Promise.all([...waiting, others])) expect(reply.status).toBe(200);
  expect((await send(`${own}::1`)).status).toBe(200);
});
