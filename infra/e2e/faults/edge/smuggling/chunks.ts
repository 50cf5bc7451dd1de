import { chunked, hidden, passes, refused, type SmugglingCase, start } from './case.ts';

const te = 'Transfer-Encoding: chunked\r\n';
const end = '0\r\n\r\n';

/** Methods for which many parsers expect no body. */
const methods = ['GET', 'HEAD', 'DELETE', 'PATCH', 'POST'].flatMap((method) => [
  passes('chunked', `${method} with a request in a chunk`, `${start(method)}${te}\r\n${chunked(hidden)}`, {
    method,
    body: hidden,
  }),
  passes('chunked', `${method} without a byte`, `${start(method)}${te}\r\n${end}`, { method, body: '' }),
]);

const wrong: readonly (readonly [string, string])[] = [
  ['no number', 'zz\r\nabcde\r\n0\r\n\r\n'],
  ['0x', '0x5\r\nabcde\r\n0\r\n\r\n'],
  ['a minus', '-5\r\nabcde\r\n0\r\n\r\n'],
  ['a plus', '+5\r\nabcde\r\n0\r\n\r\n'],
  ['an underscore', '0_5\r\nabcde\r\n0\r\n\r\n'],
  ['a space before it', ' 5\r\nabcde\r\n0\r\n\r\n'],
  ['a NUL behind it', '5\0\r\nabcde\r\n0\r\n\r\n'],
  ['a NUL before it', '\x005\r\nabcde\r\n0\r\n\r\n'],
  ['a comma', '5,5\r\nabcde\r\n0\r\n\r\n'],
  ['nothing', '\r\nabcde\r\n0\r\n\r\n'],
  ['2^64 + 5', '10000000000000005\r\nabcde\r\n0\r\n\r\n'],
  ['2^64 - 1', 'ffffffffffffffff\r\nabcde\r\n0\r\n\r\n'],
  ['30 digits', `${'f'.repeat(30)}\r\nabcde\r\n0\r\n\r\n`],
  ['a bare LF behind it', '5\nabcde\r\n0\r\n\r\n'],
  ['a bare CR behind it', '5\rabcde\r\n0\r\n\r\n'],
  ['two CRs behind it', '5\r\r\nabcde\r\n0\r\n\r\n'],
  ['too small', '3\r\nabcde\r\n0\r\n\r\n'],
  ['too large by two', '7\r\nabcde\r\n0\r\n\r\n'],
  ['too large, into the end', '8\r\nabcde\r\n0\r\n\r\n'],
  ['no CRLF behind the data', '5\r\nabcde0\r\n\r\n'],
  ['a bare LF behind the data', '5\r\nabcde\n0\r\n\r\n'],
  ['a bare CR behind the data', '5\r\nabcde\r0\r\n\r\n'],
  ['a space behind the data', '5\r\nabcde \r\n0\r\n\r\n'],
  ['a bare LF in an extension', '5;a=b\nabcde\r\n0\r\n\r\n'],
  ['a bare CR in an extension', '5;a=b\rc\r\nabcde\r\n0\r\n\r\n'],
  ['a NUL in an extension', '5;a=\0\r\nabcde\r\n0\r\n\r\n'],
  ['a bare LF in a quoted extension', '5;a="b\nc"\r\nabcde\r\n0\r\n\r\n'],
  ['an extension of 20 KB', `5;a=${'b'.repeat(20_000)}\r\nabcde\r\n0\r\n\r\n`],
  ['a bare LF behind the last', '5\r\nabcde\r\n0\n\r\n'],
  ['only bare LFs at the end', '5\r\nabcde\r\n0\n\n'],
];
const right: readonly (readonly [string, string])[] = [
  ['upper case', `${'a'.repeat(10).length.toString(16).toUpperCase()}\r\nabcdefghij\r\n0\r\n\r\n`],
  ['leading zeros', '0000a\r\nabcdefghij\r\n0\r\n\r\n'],
  ['two of them', '5\r\nabcde\r\n5\r\nfghij\r\n0\r\n\r\n'],
  ['one a byte', `${[...'abcdefghij'].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`],
  ['several zeros at the end', 'a\r\nabcdefghij\r\n000\r\n\r\n'],
  ['an extension', 'a;a=b\r\nabcdefghij\r\n0\r\n\r\n'],
  ['a quoted extension', 'a;a="b;c"\r\nabcdefghij\r\n0\r\n\r\n'],
  ['an extension without a value', 'a;a\r\nabcdefghij\r\n0;b\r\n\r\n'],
];

const sizes = [
  ...wrong.map(([name, body]) => refused('chunk size', name, `${start('POST')}${te}\r\n${body}`)),
  ...right.map(([name, body]) =>
    passes('chunk size', name, `${start('POST')}${te}\r\n${body}`, { method: 'POST', body: 'abcdefghij' }),
  ),
];

/** Fields that must never be accepted as trailers (RFC 9110 §6.5.1). */
const trailerFields = [
  'Host: other',
  'Authorization: Bearer other',
  'X-Internal-Account: acc_1',
  'X-Forwarded-For: 192.0.2.1',
  'Content-Type: text/plain',
  'X-Plain: 1',
];
const trailers = [
  ...trailerFields.map((field) => {
    const name = field.slice(0, field.indexOf(':')).toLowerCase();
    const own = name.startsWith('x-internal') || name === 'x-plain' || name === 'content-type';
    return passes('trailer', field, `${start('POST')}${te}Trailer: ${name}\r\n\r\n3\r\nabc\r\n0\r\n${field}\r\n\r\n`, {
      method: 'POST',
      body: 'abc',
      without: own ? [name, 'trailer'] : ['trailer'],
      ...(name === 'host' && { with: { host: 'a' } }),
    });
  }),
  ...[
    ['folded', 'X-A: b\r\n c'],
    ['with a bare LF', 'X-A: b\nX-C: d'],
    ['with a bare CR', 'X-A: b\rX-C: d'],
    ['with a NUL', 'X-A: \0'],
    ['with a space before the colon', 'X-A : b'],
    ['without a colon', 'X-A'],
    ['that gives a length', `Content-Length: ${hidden.length}`],
    ['that gives a coding', 'Transfer-Encoding: chunked'],
    ['of 20 KB', `X-A: ${'b'.repeat(20_000)}`],
  ].map(([name, field]) => refused('trailer', `${name}`, `${start('POST')}${te}\r\n3\r\nabc\r\n0\r\n${field}\r\n\r\n`)),
  {
    // It ends the connection, as if it were in the head; the request itself is valid.
    ...refused('trailer', 'Connection: close', `${start('POST')}${te}\r\n3\r\nabc\r\n0\r\nConnection: close\r\n\r\n`),
    upstream: [{ method: 'POST', body: 'abc' }],
    answers: [200, 400],
  },
];

export const chunks: readonly SmugglingCase[] = [...methods, ...sizes, ...trailers];
