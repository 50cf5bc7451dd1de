import { answered, authorization, chunked, head, hidden, passes, refused, type SmugglingCase, start } from './case.ts';

const request = (line: string, more = '') => `${line}\r\n${head}${more}\r\n`;

/** Well-framed targets that are not one of our paths in normal form. */
const unknownTargets = [
  'http://a/v2/campaigns?case=CASE',
  'http://other/v2/campaigns?case=CASE',
  'https://a/v2/campaigns?case=CASE',
  'HTTP://A/v2/campaigns?case=CASE',
  '//v2/campaigns?case=CASE',
  '//other/v2/campaigns?case=CASE',
  '/v2//campaigns?case=CASE',
  '/v2/./campaigns?case=CASE',
  '/v2/x/../campaigns?case=CASE',
  '/v2/%63ampaigns?case=CASE',
  '/v2%2fcampaigns?case=CASE',
  '/v2/campaigns/?case=CASE',
  '/v2/campaigns;a=b?case=CASE',
  '/V2/campaigns?case=CASE',
  '/v2/campaigns%00?case=CASE',
  '/v2/campaigns%0d%0aX-A:%20b?case=CASE',
];
const malformedTargets = [
  '/v2/campaigns?case=CASE&a=b c',
  '/v2/campaigns?case=CASE\t',
  '/v2/campaigns\0?case=CASE',
  '/v2/campaigns?case=CASE\xc3\xa9',
  '',
  'a/v2/campaigns?case=CASE',
  '\\v2\\campaigns?case=CASE',
];

const versions = [
  'HTTP/1.2',
  'HTTP/2.0',
  'HTTP/3',
  'HTTP/9.9',
  'HTTP/01.1',
  'HTTP/1.10',
  'HTTP/1,1',
  'http/1.1',
  'HTTQ/1.1',
  'HTTP/1.1 ',
  'HTTP/1.1x',
  'HTTP /1.1',
  'ICY/1.0',
  'HTTP/1',
  'HTTP/-1.1',
];

const wrongHosts: readonly (readonly [string, string])[] = [
  ['none', authorization],
  ['two', `Host: a\r\nHost: b\r\n${authorization}`],
  ['two alike', `Host: a\r\nHost: a\r\n${authorization}`],
  ['two, far apart', `Host: a\r\n${authorization}X-A: ${'b'.repeat(5_000)}\r\nhost: b\r\n`],
  ['a list', `Host: a, b\r\n${authorization}`],
  ['a space within', `Host: a b\r\n${authorization}`],
  ['a path', `Host: a/v2\r\n${authorization}`],
  ['a user', `Host: user@a\r\n${authorization}`],
  ['a fragment', `Host: a#b\r\n${authorization}`],
  ['a query', `Host: a?b\r\n${authorization}`],
  ['a NUL', `Host: a\0\r\n${authorization}`],
  ['a port that is none', `Host: a:b\r\n${authorization}`],
  ['two ports', `Host: a:1:2\r\n${authorization}`],
];
const rightHosts = ['a:8080', 'A.Example', '127.0.0.1:80', '[::1]:8080', 'xn--a_b-c.example', ''];

const one = (bytes: string) => ({ family: 'version', bytes: bytes + hidden });

export const heads: readonly SmugglingCase[] = [
  ...unknownTargets.map((target) => answered('target', target, request(`GET ${target} HTTP/1.1`), 404)),
  answered('target', 'OPTIONS *', request('OPTIONS * HTTP/1.1'), 404),
  answered(
    'target',
    'a body behind an unknown path',
    `${request('POST /v2/nothing HTTP/1.1', `Content-Length: ${hidden.length}\r\n`)}${hidden}`,
    404,
  ),
  answered(
    'target',
    'chunks behind an unknown path',
    `${request('POST /v2/nothing HTTP/1.1', 'Transfer-Encoding: chunked\r\n')}${chunked(hidden)}`,
    404,
  ),
  passes('target', 'a fragment behind the query', request('GET /v2/campaigns?case=CASE#fragment HTTP/1.1'), {
    method: 'GET',
    body: '',
  }),
  passes('target', 'two spaces before it', request('GET  /v2/campaigns?case=CASE HTTP/1.1'), {
    method: 'GET',
    body: '',
  }),
  ...malformedTargets.map((target) => refused('target', JSON.stringify(target), request(`GET ${target} HTTP/1.1`))),
  ...versions.map((version) => refused('version', version, request(`GET /v2/campaigns?case=CASE ${version}`))),
  refused('version', 'none (HTTP/0.9)', 'GET /v2/campaigns?case=CASE\r\n\r\n'),
  refused('version', 'none, with headers', request('GET /v2/campaigns?case=CASE')),
  refused(
    'version',
    'HTTP/1.0 with chunks',
    `${start('POST', '1.0')}Transfer-Encoding: chunked\r\n\r\n${chunked('abc')}`,
  ),
  refused(
    'version',
    'HTTP/1.0 with chunks, kept alive',
    `${start('POST', '1.0')}Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n${chunked('abc')}`,
  ),
  refused(
    'version',
    'HTTP/1.0 with both framings',
    `${start('POST', '1.0')}Connection: keep-alive\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ),
  {
    ...one(`${start('GET', '1.0')}\r\n`),
    name: 'HTTP/1.0 ends the connection',
    upstream: [{ method: 'GET', body: '' }],
    answers: [200],
  },
  {
    ...one(`${start('POST', '1.0')}Content-Length: 3\r\n\r\nabc`),
    name: 'HTTP/1.0 with a length',
    upstream: [{ method: 'POST', body: 'abc' }],
    answers: [200],
  },
  passes(
    'version',
    'HTTP/1.0 kept alive',
    `${start('POST', '1.0')}Connection: keep-alive\r\nContent-Length: 3\r\n\r\nabc`,
    { method: 'POST', body: 'abc' },
  ),
  ...wrongHosts.map(([name, headers]) =>
    refused('Host', name, `GET /v2/campaigns?case=CASE HTTP/1.1\r\n${headers}\r\n`),
  ),
  ...rightHosts.map((host) =>
    passes(
      'Host',
      `${host || 'empty'}`,
      `GET /v2/campaigns?case=CASE HTTP/1.1\r\nHost: ${host}\r\n${authorization}\r\n`,
      { method: 'GET', body: '' },
    ),
  ),
  ...['get', 'Get', 'G@T', 'GET\0', 'PRI', 'FOO', '"GET"', 'GET:'].map((method) =>
    refused('method', JSON.stringify(method), request(`${method} /v2/campaigns?case=CASE HTTP/1.1`)),
  ),
  ...['TRACE', 'PUT', 'PROPFIND', 'QUERY', 'OPTIONS'].map((method) =>
    answered('method', method, request(`${method} /v2/campaigns?case=CASE HTTP/1.1`), 404),
  ),
  {
    family: 'method',
    name: 'CONNECT',
    bytes: request('CONNECT a:443 HTTP/1.1') + hidden,
    upstream: [],
    answers: [404],
  },
  {
    family: 'method',
    name: 'CONNECT with a path',
    bytes: request('CONNECT /v2/campaigns?case=CASE HTTP/1.1') + hidden,
    upstream: [],
    answers: [404],
  },
  passes('method', 'an override, which is ignored', `${start('GET')}X-HTTP-Method-Override: DELETE\r\n\r\n`, {
    method: 'GET',
    body: '',
  }),
];
