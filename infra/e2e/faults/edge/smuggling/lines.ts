import { authorization, head, passes, refused, type SmugglingCase, start } from './case.ts';

const get = start('GET');
const line = 'GET /v2/campaigns?case=CASE HTTP/1.1';

const endings: readonly (readonly [string, string])[] = [
  ['LF behind the request line', `${line}\n${head}\r\n`],
  ['LF behind a header', `${get}X-A: b\nX-C: d\r\n\r\n`],
  ['LF behind the last header', `${get}X-A: b\n\r\n`],
  ['LF for the empty line', `${get}X-A: b\r\n\n`],
  ['LF throughout', `${line}\nHost: a\n${authorization.trimEnd()}\n\n`],
  ['LF before the name of a header', `${get}\nX-A: b\r\n\r\n`],
  ['LF within a name', `${get}X\n-A: b\r\n\r\n`],
  ['CR behind the request line', `${line}\r${head}\r\n`],
  ['CR within a value', `${get}X-A: b\rX-C: d\r\n\r\n`],
  ['CR at the end of a value', `${get}X-A: b\r\r\n\r\n`],
  ['CR within a name', `${get}X\r-A: b\r\n\r\n`],
  ['CR throughout', `${line}\rHost: a\r${authorization.trimEnd()}\r\r`],
  ['CR in the target', `GET /v2/campaigns?case=CASE\r&a=b HTTP/1.1\r\n${head}\r\n`],
  ['LF in the target', `GET /v2/campaigns?case=CASE\n&a=b HTTP/1.1\r\n${head}\r\n`],
  ['LF CR for CR LF', `${get}X-A: b\n\r\r\n`],
];

const folds: readonly (readonly [string, string])[] = [
  ['a header', `${get}X-A: b\r\n c\r\n\r\n`],
  ['a header, with a tab', `${get}X-A: b\r\n\tc\r\n\r\n`],
  ['a header to nothing', `${get}X-A: b\r\n \r\n\r\n`],
  ['the first header', `${line}\r\n X-A: b\r\n${head}\r\n`],
  ['Host', `${line}\r\nHost: a\r\n .example\r\n${authorization}\r\n`],
  ['Authorization', `${line}\r\nHost: a\r\n${authorization.trimEnd().replace('Bearer ', 'Bearer\r\n ')}\r\n\r\n`],
  ['Connection', `${get}Connection: close,\r\n x-a\r\n\r\n`],
  ['twice', `${get}X-A: b\r\n c\r\n d\r\n\r\n`],
  ['what looks like a header', `${get}X-A: b\r\n Content-Length: 5\r\n\r\n`],
];

const names: readonly (readonly [string, string])[] = [
  ['a space before the colon', 'X-A : b'],
  ['a tab before the colon', 'X-A\t: b'],
  ['a space before the colon of Host', 'Host : b'],
  ['a space within', 'X A: b'],
  ['a space in front', ' X-A: b'],
  ['no colon', 'X-A'],
  ['no name', ': b'],
  ['a NUL', 'X\0A: b'],
  ['a DEL', 'X\x7fA: b'],
  ['a byte above ASCII', 'X\xe9A: b'],
  ['a bracket', 'X(A): b'],
  ['a quote', '"X-A": b'],
  ['a slash', 'X/A: b'],
  ['an at', 'X@A: b'],
];
const values: readonly (readonly [string, string])[] = [
  ['a NUL', 'X-A: b\0c'],
  ['a NUL at the end', 'X-A: b\0'],
  ['a control character', 'X-A: b\x01c'],
  ['a vertical tab', 'X-A: b\x0bc'],
  ['a DEL', 'X-A: b\x7fc'],
  ['an escape', 'X-A: \x1b[0m'],
];

export const lines: readonly SmugglingCase[] = [
  ...endings.map(([name, bytes]) => refused('bare CR or LF', name, bytes)),
  ...folds.map(([name, bytes]) => refused('obs-fold', name, bytes)),
  ...names.map(([name, field]) => refused('header name', name, `${get}${field}\r\n\r\n`)),
  ...values.map(([name, field]) => refused('header value', name, `${get}${field}\r\n\r\n`)),
  passes('header value', 'a tab, and bytes above ASCII', `${get}X-A: b\tc\xe9\r\n\r\n`, {
    method: 'GET',
    body: '',
    with: { 'x-a': 'b\tc\xe9' },
  }),
  passes('header value', 'nothing', `${get}X-A:\r\n\r\n`, { method: 'GET', body: '', with: { 'x-a': '' } }),
  passes('bare CR or LF', 'empty lines before a request', `\r\n\r\n${get}\r\n`, { method: 'GET', body: '' }),
];
