import { securityHeaders } from '@attribution/http';
import { personToken, problemBase } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGateway, startUpstream, type TestGateway, type Upstream } from './support.ts';

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

const bearer = `Authorization: Bearer ${personToken()}`;
const head = `Host: a\r\n${bearer}\r\n`;
const get = `GET /v2/plans HTTP/1.1\r\n${head}`;
const post = `POST /v2/campaigns HTTP/1.1\r\n${head}`;
/** A request that an attacker hides behind another, to be taken for a separate one. */
const hidden = `GET /v2/users/me?hidden=1 HTTP/1.1\r\n${head}\r\n`;

/** The responses on a connection, in order. */
function responsesIn(text: string): { status: number; headers: string; body: string }[] {
  return text
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter(Boolean)
    .map((part) => {
      const [headers = '', body = ''] = part.split('\r\n\r\n');
      return { status: Number(headers.slice(9, 12)), headers: headers.toLowerCase(), body };
    });
}

/** Expects at most one problem, then a closed connection. Only the `before` valid requests in front reach a service. */
async function expectRefused(bytes: string, detail: string | RegExp, before = 0): Promise<void> {
  const reached = upstream.started.length;
  const responses = responsesIn(await gateway.raw(bytes));
  expect(upstream.started.slice(reached).map(({ url }) => url)).toEqual(
    Array.from({ length: before }, () => '/v2/plans'),
  );
  const refusals = responses.slice(before);
  expect(refusals.length).toBeLessThanOrEqual(1);
  for (const { status, headers, body } of refusals) {
    expect(status).toBe(400);
    expect(headers).toMatch(/\r\ncontent-type: application\/problem\+json(\r\n|$)/);
    expect(headers).toMatch(/\r\nconnection: close(\r\n|$)/);
    expect(headers).toMatch(/\r\nx-request-id: [0-9a-f-]{36}(\r\n|$)/);
    for (const [name, value] of Object.entries(securityHeaders))
      expect(headers).toContain(`\r\n${name}: ${value.toLowerCase()}`);
    const problem = JSON.parse(body) as { detail: string };
    expect(problem).toMatchObject({ type: `${problemBase}/validation-error`, status: 400 });
    expect(problem.detail).toMatch(detail);
  }
}

const invalid = /not a valid HTTP request/;
const framing = /not a valid HTTP request|only chunked is supported/;

test.each([
  ['noise', '\x00\xff\x13\x37\r\n\r\n'],
  ['an unknown version', `GET /v2/plans HTTP/9.9\r\n${head}\r\n`],
  ['HTTP/2 with prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['TLS on the plain port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['a space in the path', `GET /v2/plans /x HTTP/1.1\r\n${head}\r\n`],
  ['a tab in the request line', `GET\t/v2/plans HTTP/1.1\r\n${head}\r\n`],
  ['raw bytes above ASCII in the path', `GET /v2/plans?q=\xc3\xa9 HTTP/1.1\r\n${head}\r\n`],
  ['a method that is not a token', `G@T /v2/plans HTTP/1.1\r\n${head}\r\n`],
  ['a bare LF after the request line', `GET /v2/plans HTTP/1.1\n${head}\r\n`],
  ['bare LFs throughout', `GET /v2/plans HTTP/1.1\nHost: a\n${bearer}\n\n`],
  ['a bare CR in a header', `${get}X-A: b\rX-C: d\r\n\r\n`],
  ['a NUL in a header', `${get}X-A: b\0c\r\n\r\n`],
  ['a header without a colon', `${get}X-A\r\n\r\n`],
  ['a header without a name', `${get}: b\r\n\r\n`],
  ['a space before the colon', `${get}X-A : b\r\n\r\n`],
  ['a folded header (obs-fold)', `${get}X-A: b\r\n c\r\n\r\n`],
  ['a folded first header', `GET /v2/plans HTTP/1.1\r\n X-A: b\r\n${head}\r\n`],
])('400 and closed: %s', async (_what, text) => {
  await expectRefused(text, invalid);
});

const hosted = (host: string) => `GET /v2/plans HTTP/1.1\r\nHost: ${host}\r\n${bearer}\r\n\r\n`;
const noHost = /^Host: is not a name or an address/;

test.each([
  ['no Host', `GET /v2/plans HTTP/1.1\r\n${bearer}\r\n\r\n`, /^Host: the header is missing/],
  ['two Hosts', `${get}Host: b\r\n\r\n`, /^Host: the header is given more than once/],
  ['no version', `GET /v2/plans\r\n${head}\r\n`, /^HTTP\/0.9: is not supported/],
  ['the version of another protocol', `GET /v2/plans HTTP/2.0\r\n${head}\r\n`, /^HTTP\/2.0: is not supported/],
  ['two names in Host', hosted('a, b'), noHost],
  ['a path in Host', hosted('a/v2'), noHost],
  ['a user in Host', hosted('user@a'), noHost],
  ['a query in Host', hosted('a?b'), noHost],
  ['a port in Host that is not a number', hosted('a:b'), noHost],
  [
    'a coding that HTTP/1.0 does not have',
    `POST /v2/campaigns HTTP/1.0\r\n${head}Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    /does not exist in HTTP\/1.0/,
  ],
  ...['identity, chunked', 'gzip, chunked', ', chunked', 'chunked\r\nTransfer-Encoding: chunked'].map(
    (coding): [string, string, RegExp] => [
      `the coding ${JSON.stringify(coding)}`,
      `${post}Transfer-Encoding: ${coding}\r\n\r\n0\r\n\r\n`,
      framing,
    ],
  ),
])('400 and closed, and what follows is not read as a request: %s', async (_what, text, detail) => {
  await expectRefused(text + hidden, detail);
});

test.each(['a', 'A.Example:8080', '127.0.0.1:80', '[::1]:8080', ''])('the Host %j passes', async (host) => {
  const [response] = responsesIn(await gateway.raw(hosted(host).replace(/\r\n$/, 'Connection: close\r\n\r\n')));
  expect(response?.status).toBe(200);
});

test('Transfer-Encoding: chunked is forwarded in lower case, however it was written', async () => {
  const text = `${post}Transfer-Encoding: cHuNkEd\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n`;
  expect(responsesIn(await gateway.raw(text))[0]?.status).toBe(200);
  expect(upstream.seen.at(-1)?.body.toString()).toBe('abc');
  expect(upstream.seen.at(-1)?.headers['transfer-encoding'] ?? 'chunked').toBe('chunked');
});

test('a chunked body without content is forwarded as an empty body', async () => {
  for (const method of ['POST', 'GET']) {
    const start = `${method} /v2/campaigns HTTP/1.1\r\n${head}`;
    const text = `${start}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n`;
    expect(responsesIn(await gateway.raw(text))[0]?.status).toBe(200);
    expect(upstream.seen.at(-1)).toMatchObject({ method, body: Buffer.alloc(0) });
  }
});

test('HTTP/1.0 needs no Host', async () => {
  const [response] = responsesIn(await gateway.raw(`GET /v2/plans HTTP/1.0\r\n${bearer}\r\n\r\n`));
  expect(response?.status).toBe(200);
});

test.each([
  ['one header', `X-Large: ${'x'.repeat(17_000)}\r\n`],
  ['many headers', `X-Many: ${'x'.repeat(90)}\r\n`.repeat(180)],
])('400: headers of more than 16 KiB, in %s', async (_what, lines) => {
  await expectRefused(`${get}${lines}\r\n`, /larger than 16 KiB/);
});

test('400: a request line of more than 16 KiB', async () => {
  await expectRefused(`GET /v2/plans?q=${'x'.repeat(17_000)} HTTP/1.1\r\n${head}\r\n`, /larger than 16 KiB/);
});

test('headers just below 16 KiB pass', async () => {
  const [response] = responsesIn(
    await gateway.raw(`${get}X-Large: ${'x'.repeat(14_000)}\r\nConnection: close\r\n\r\n`),
  );
  expect(response?.status).toBe(200);
});

/** Requests whose body could end at two places, the classic way to smuggle another one past a proxy. */
test.each([
  ['two lengths that differ', `${post}Content-Length: 4\r\nContent-Length: ${hidden.length}\r\n\r\n`],
  ['two equal lengths', `${post}Content-Length: 0\r\nContent-Length: 0\r\n\r\n`],
  ['a list of lengths', `${post}Content-Length: 0, ${hidden.length}\r\n\r\n`],
  ['a length and chunks', `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['chunks and a length', `${post}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`],
  ['a negative length', `${post}Content-Length: -1\r\n\r\n`],
  ['a signed length', `${post}Content-Length: +0\r\n\r\n`],
  ['a length in hex', `${post}Content-Length: 0x0\r\n\r\n`],
  ['a length with a space', `${post}Content-Length: 0 0\r\n\r\n`],
  ['a length beyond every integer', `${post}Content-Length: 99999999999999999999\r\n\r\n`],
  ['an empty length', `${post}Content-Length:\r\n\r\n`],
  ['chunked spelt with a control character', `${post}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`],
  ['a coding after chunked', `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
  ['an unknown coding', `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ['chunked in quotes', `${post}Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n`],
  ['a space before the colon of Transfer-Encoding', `${post}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`],
])('400, and what follows is not read as a request: %s', async (_what, text) => {
  await expectRefused(text + hidden, framing);
});

test.each([
  ['a chunk size that is not a number', 'zz\r\nabc\r\n0\r\n\r\n'],
  ['a chunk size in 0x', '0x3\r\nabc\r\n0\r\n\r\n'],
  ['a negative chunk size', '-3\r\nabc\r\n0\r\n\r\n'],
  ['a chunk size beyond every integer', 'ffffffffffffffffffff\r\nabc\r\n0\r\n\r\n'],
  ['a chunk longer than its size', '3\r\nabcdef\r\n0\r\n\r\n'],
  ['a chunk size ended by a bare LF', '3\nabc\r\n0\r\n\r\n'],
  ['a chunk ended by a bare LF', '3\r\nabc\n0\r\n\r\n'],
  ['a chunk extension with a bare LF', '3;a=b\nabc\r\n0\r\n\r\n'],
])('%s ends the connection, and what follows is not read as a request', async (_what, body) => {
  const seen = upstream.seen.length;
  const responses = responsesIn(await gateway.raw(`${post}Transfer-Encoding: chunked\r\n\r\n${body}${hidden}`));
  expect(responses.length).toBeLessThanOrEqual(1);
  for (const { status } of responses) expect(status).toBe(400);
  // The head of the first request may have reached the service, but no complete request and no second one.
  expect(upstream.seen).toHaveLength(seen);
  expect(upstream.started.some(({ url }) => url?.includes('hidden'))).toBe(false);
});

test('a malformed request after a valid one on the same connection: the first is served, the rest is refused', async () => {
  await expectRefused(`${get}\r\nG@T / HTTP/1.1\r\n\r\n${hidden}`, invalid, 1);
  expect(responsesIn(await gateway.raw(`${get}\r\nG@T / HTTP/1.1\r\n\r\n`)).map(({ status }) => status)).toEqual([
    200, 400,
  ]);
});

test('pipelined requests are answered in their order', async () => {
  const target = (path: string, more = '') => `GET ${path} HTTP/1.1\r\n${head}${more}\r\n`;
  const text = await gateway.raw(
    target('/v2/plans') + target('/v2/nothing') + target('/v2/campaigns', 'Connection: close\r\n'),
  );
  expect(responsesIn(text).map(({ status }) => status)).toEqual([200, 404, 200]);
});

test('an empty line before a request is ignored', async () => {
  const [response] = responsesIn(await gateway.raw(`\r\n${get}Connection: close\r\n\r\n`));
  expect(response?.status).toBe(200);
});

test('CONNECT opens no tunnel', async () => {
  const reached = upstream.connections.accepted;
  const text = await gateway.raw(`CONNECT 127.0.0.1:${new URL(upstream.url).port} HTTP/1.1\r\n${head}\r\n${hidden}`);
  expect(text).not.toMatch(/^HTTP\/1.1 2/);
  expect(upstream.connections.accepted).toBe(reached);
});
