import { answered, authorization, chunked, head, hidden, passes, refused, type SmugglingCase, start } from './case.ts';

const bearer = authorization.slice('Authorization: '.length).trimEnd();
const post = `${start('POST')}Content-Type: text/plain\r\nX-A: b\r\nCookie: c=d\r\n`;
const body = `Content-Length: ${hidden.length}\r\n\r\n${hidden}`;
/** Headers that frame the body or identify the caller are kept, whatever `Connection` lists. */
const whole = {
  method: 'POST',
  body: hidden,
  with: { host: 'a', authorization: bearer, 'content-type': 'text/plain' },
};
const listed: readonly (readonly [string, string, readonly string[]])[] = [
  ['content-length', 'Connection: content-length', []],
  ['Content-Length, in upper case', 'Connection: CONTENT-LENGTH', []],
  ['host', 'Connection: host', []],
  ['authorization', 'Connection: authorization', []],
  ['content-type', 'Connection: content-type', []],
  ['transfer-encoding', 'Connection: transfer-encoding', []],
  ['all that frames and names', 'Connection: host, content-length, authorization, content-type, transfer-encoding', []],
  ['a header', 'Connection: x-a', ['x-a']],
  ['a header in other letters', 'Connection: X-A', ['x-a']],
  ['several', 'Connection: keep-alive, x-a ,cookie', ['x-a', 'cookie', 'keep-alive']],
  ['in two fields', 'Connection: x-a\r\nConnection: cookie', ['x-a', 'cookie']],
  ['in two fields, with a length', 'Connection: content-length\r\nConnection: x-a', ['x-a']],
  ['nothing', 'Connection:', []],
  ['commas', 'Connection: ,,x-a,,', ['x-a']],
  ['itself', 'Connection: connection', []],
  ['what the gateway sets', 'Connection: x-forwarded-for, x-request-id, traceparent, x-forwarded-proto', []],
  ['keep-alive', 'Connection: keep-alive\r\nKeep-Alive: timeout=5', ['keep-alive']],
  ['te', 'Connection: te\r\nTE: trailers', ['te']],
  ['proxy-connection', 'Proxy-Connection: keep-alive', ['proxy-connection']],
  ['proxy-authorization', 'Proxy-Authorization: Basic eA==', ['proxy-authorization']],
];
const reserved = [
  'X-Internal-Account: acc_1',
  'x-internal-user: usr_1',
  'X-Real-Ip: 192.0.2.1',
  'Forwarded: for=192.0.2.1',
  'X-Forwarded-Host: other',
  'X-Forwarded-Prefix: /x',
  'Trailer: x-a',
  'TE: trailers, chunked',
];

const hop = [
  ...listed.map(([name, field, without]) =>
    passes('Connection', name, `${post}${field}\r\n${body}`, {
      ...whole,
      without: ['connection', ...without].filter((one) => one !== 'connection'),
    }),
  ),
  passes(
    'Connection',
    'transfer-encoding, of a chunked request',
    `${post}Connection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n\r\n${chunked(hidden)}`,
    whole,
  ),
  passes('Connection', 'content-length, of GET', `${start('GET')}Connection: content-length\r\n${body}`, {
    method: 'GET',
    body: hidden,
  }),
  passes(
    'Connection',
    'transfer-encoding, of DELETE',
    `${start('DELETE')}Connection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n\r\n${chunked(hidden)}`,
    { method: 'DELETE', body: hidden },
  ),
  ...reserved.map((field) =>
    passes('reserved', field, `${post}${field}\r\n${body}`, {
      ...whole,
      without: [field.slice(0, field.indexOf(':')).toLowerCase()],
    }),
  ),
];

const upgrade = [
  ['websocket', 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13'],
  ['h2c', 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA'],
  ['h2c, not listed', 'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA'],
  ['something else', 'Connection: upgrade\r\nUpgrade: x/1'],
].flatMap(([name, fields]) =>
  ['GET', 'POST'].map((method) => ({
    // The response ends the connection, and the bytes behind the request are not parsed.
    ...refused('upgrade', `${name}, of ${method}`, `${start(method)}${fields}\r\n${method === 'GET' ? '\r\n' : body}`),
    upstream: [{ method, body: method === 'GET' ? '' : hidden, without: ['upgrade'] }],
    answers: [200],
  })),
);

const expectation = ['100-continue', '100-Continue', 'something-else', '100-continue, 100-continue'].flatMap(
  (value) => [
    passes('Expect', `${value}, with a length`, `${start('POST')}Expect: ${value}\r\n${body}`, {
      method: 'POST',
      body: hidden,
      without: ['expect'],
    }),
    passes(
      'Expect',
      `${value}, with chunks`,
      `${start('POST')}Expect: ${value}\r\nTransfer-Encoding: chunked\r\n\r\n${chunked(hidden)}`,
      { method: 'POST', body: hidden, without: ['expect'] },
    ),
    passes('Expect', `${value}, of GET`, `${start('GET')}Expect: ${value}\r\n\r\n`, {
      method: 'GET',
      body: '',
      without: ['expect'],
    }),
  ],
);

const get = `${start('GET')}\r\n`;
const plain = { method: 'GET', body: '' };
const pipelines: readonly SmugglingCase[] = [
  {
    ...passes('pipeline', '20 of GET', get.repeat(20), plain),
    upstream: Array(21).fill(plain),
    answers: Array(21).fill(200),
  },
  {
    ...passes('pipeline', 'GET, POST, GET', `${get}${start('POST')}Content-Length: 3\r\n\r\nabc${get}`, plain),
    upstream: [plain, { method: 'POST', body: 'abc' }, plain, plain],
    answers: [200, 200, 200, 200],
  },
  {
    ...passes(
      'pipeline',
      'chunks between others',
      `${get}${start('POST')}Transfer-Encoding: chunked\r\n\r\n${chunked(hidden)}${get}`,
      plain,
    ),
    upstream: [plain, { method: 'POST', body: hidden }, plain, plain],
    answers: [200, 200, 200, 200],
  },
  {
    ...answered('pipeline', 'an unknown path between others', `${get}GET /v2/nothing HTTP/1.1\r\n${head}\r\n`, 404),
    upstream: [plain, plain],
    answers: [200, 404, 200],
  },
  {
    ...refused('pipeline', 'a malformed one behind a good one', `${get}G@T / HTTP/1.1\r\n\r\n`),
    upstream: [plain],
    answers: [200, 400],
  },
  {
    ...refused(
      'pipeline',
      'two framings behind a good one',
      `${get}${start('POST')}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ),
    upstream: [plain],
    answers: [200, 400],
  },
  {
    ...refused(
      'pipeline',
      'two Hosts behind a good one',
      `${get}GET /v2/campaigns?case=CASE HTTP/1.1\r\n${head}Host: b\r\n\r\n`,
    ),
    upstream: [plain],
    answers: [200, 400],
  },
  {
    ...refused('pipeline', 'one behind the last', `${start('GET')}Connection: close\r\n\r\n`),
    upstream: [plain],
    answers: [200],
  },
  {
    ...refused(
      'pipeline',
      'one behind the last, which has a body',
      `${start('POST')}Connection: close\r\nContent-Length: 3\r\n\r\nabc`,
    ),
    upstream: [{ method: 'POST', body: 'abc' }],
    answers: [200],
  },
];

/** More fields than the parser counts: those it ignores must not frame the message either. */
const many = (count: number) => 'a:\r\n'.repeat(count);
const oversize: readonly SmugglingCase[] = [
  refused('oversize', 'a header of 17 KB', `${start('GET')}X-A: ${'b'.repeat(17_000)}\r\n\r\n`),
  refused('oversize', 'headers of 17 KB together', `${start('GET')}${`X-A: ${'b'.repeat(90)}\r\n`.repeat(180)}\r\n`),
  refused(
    'oversize',
    'a target of 17 KB',
    `GET /v2/campaigns?case=CASE&a=${'b'.repeat(17_000)} HTTP/1.1\r\n${head}\r\n`,
  ),
  refused('oversize', 'a method of 17 KB', `${'G'.repeat(17_000)} / HTTP/1.1\r\n${head}\r\n`),
  refused('oversize', 'a name of 17 KB', `${start('GET')}${'X'.repeat(17_000)}: b\r\n\r\n`),
  passes('oversize', 'a header of 12 KB', `${start('GET')}X-A: ${'b'.repeat(12_000)}\r\n\r\n`, plain),
  ...['POST', 'GET', 'DELETE'].flatMap((method) => [
    refused('oversize', `${method}, a length behind 2,100 fields`, `${start(method)}${many(2_100)}${body}`),
    refused(
      'oversize',
      `${method}, chunks behind 2,100 fields`,
      `${start(method)}${many(2_100)}Transfer-Encoding: chunked\r\n\r\n${chunked(hidden)}`,
    ),
  ]),
  refused('oversize', 'a second Host behind 2,100 fields', `${start('GET')}${many(2_100)}Host: b\r\n\r\n`),
];

export const connections: readonly SmugglingCase[] = [...hop, ...upgrade, ...expectation, ...pipelines, ...oversize];
