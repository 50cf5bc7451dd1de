import { chunked, hidden, passes, refused, type SmugglingCase, start } from './case.ts';

const methods = ['POST', 'PATCH', 'DELETE', 'GET'];
const te = 'Transfer-Encoding: chunked\r\n';
const length = (value: string | number) => `Content-Length: ${value}\r\n`;
const end = '0\r\n\r\n';

/** Both framings at once (RFC 9112 §6.1): one parser uses the length, the other the chunks. */
const clTe = methods.flatMap((method) =>
  [te, 'transfer-encoding: Chunked\r\n', 'Transfer-Encoding:chunked \r\n'].flatMap((spelling, n) => {
    const cl = length((end + hidden).length);
    return [
      refused('CL.TE', `${method}, length first, spelling ${n}`, `${start(method)}${cl}${spelling}\r\n${end}`),
      refused('CL.TE', `${method}, length last, spelling ${n}`, `${start(method)}${spelling}${cl}\r\n${end}`),
    ];
  }),
);

const teCl = methods.flatMap((method) => {
  const body = chunked(hidden);
  const cl = length(body.indexOf('\r\n') + 2);
  return [
    refused('TE.CL', `${method}, length first`, `${start(method)}${cl}${te}\r\n${body}`),
    refused('TE.CL', `${method}, length last`, `${start(method)}${te}${cl}\r\n${body}`),
    refused('TE.CL', `${method}, a length of 0`, `${start(method)}${te}${length(0)}\r\n${body}`),
  ];
});

/** Spellings that one parser takes for chunked and another does not. */
const obfuscated: readonly (readonly [string, string])[] = [
  ['an unknown coding', 'Transfer-Encoding: xchunked'],
  ['a space before the colon', 'Transfer-Encoding : chunked'],
  ['a tab before the colon', 'Transfer-Encoding\t: chunked'],
  ['a vertical tab', 'Transfer-Encoding: \x0bchunked'],
  ['a form feed behind', 'Transfer-Encoding: chunked\x0c'],
  ['a NUL before', 'Transfer-Encoding: \0chunked'],
  ['a NUL behind', 'Transfer-Encoding: chunked\0'],
  ['a NUL within', 'Transfer-Encoding: chun\0ked'],
  ['a no-break space', 'Transfer-Encoding: \xa0chunked'],
  ['a space within', 'Transfer-Encoding: chu nked'],
  ['double quotes', 'Transfer-Encoding: "chunked"'],
  ['single quotes', "Transfer-Encoding: 'chunked'"],
  ['a parameter', 'Transfer-Encoding: chunked;q=1'],
  ['a coding behind it', 'Transfer-Encoding: chunked, identity'],
  ['identity before it', 'Transfer-Encoding: identity, chunked'],
  ['gzip before it', 'Transfer-Encoding: gzip, chunked'],
  ['identity alone', 'Transfer-Encoding: identity'],
  ['gzip alone', 'Transfer-Encoding: gzip'],
  ['nothing', 'Transfer-Encoding:'],
  ['tabs around it', 'Transfer-Encoding: \tchunked\t'],
  ['a comma before it', 'Transfer-Encoding: , chunked'],
  ['a comma behind it', 'Transfer-Encoding: chunked,'],
  ['twice in a list', 'Transfer-Encoding: chunked, chunked'],
  ['twice in two fields', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'],
  ['identity in a field before it', 'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked'],
  ['another in a field behind it', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: x'],
  ['folded', 'Transfer-Encoding:\r\n chunked'],
  ['behind a bare LF', 'X-A: b\nTransfer-Encoding: chunked'],
  ['behind a bare CR', 'X-A: b\rTransfer-Encoding: chunked'],
  ['a control character in the name', 'Transfer\x01-Encoding: chunked'],
];
const teTe = obfuscated.flatMap(([name, line]) => [
  refused('TE.TE', `${name}`, `${start('POST')}${line}\r\n\r\n${end}`),
  refused('TE.TE', `${name}, and a length`, `${start('POST')}${length(end.length)}${line}\r\n\r\n${end}`),
]);

const plain: readonly SmugglingCase[] = [
  ...['Transfer-Encoding: CHUNKED', 'transfer-encoding: cHuNkEd', 'Transfer-Encoding:chunked'].map((line) =>
    passes(
      'TE.TE',
      `as it may be spelt: ${JSON.stringify(line)}`,
      `${start('POST')}${line}\r\n\r\n${chunked(hidden)}`,
      { method: 'POST', body: hidden },
    ),
  ),
  passes(
    'TE.TE',
    'a field that only looks like it',
    `${start('POST')}Transfer_Encoding: chunked\r\n${length(end.length)}\r\n${end}`,
    { method: 'POST', body: end },
  ),
];

const wrongLengths: readonly (readonly [string, string])[] = [
  ['two that differ', 'Content-Length: 5\r\nContent-Length: 6'],
  ['two alike', 'Content-Length: 5\r\nContent-Length: 5'],
  ['three alike', 'Content-Length: 5\r\nContent-Length: 5\r\nContent-Length: 5'],
  ['two that differ, far apart', `Content-Length: 5\r\nX-A: ${'b'.repeat(5_000)}\r\ncontent-length: 0`],
  ['a list alike', 'Content-Length: 5, 5'],
  ['a list that differs', 'Content-Length: 5, 0'],
  ['a comma', 'Content-Length: 5,'],
  ['a sign', 'Content-Length: +5'],
  ['negative', 'Content-Length: -5'],
  ['a fraction', 'Content-Length: 5.0'],
  ['an exponent', 'Content-Length: 5e0'],
  ['hex', 'Content-Length: 0x5'],
  ['an underscore', 'Content-Length: 0_5'],
  ['quotes', 'Content-Length: "5"'],
  ['two numbers', 'Content-Length: 5 5'],
  ['a parameter', 'Content-Length: 5;a=b'],
  ['a vertical tab', 'Content-Length: \x0b5'],
  ['a NUL', 'Content-Length: 5\0'],
  ['digits of another script', 'Content-Length: \xd9\xa5'],
  ['nothing', 'Content-Length:'],
  ['a word', 'Content-Length: five'],
  ['2^64', 'Content-Length: 18446744073709551616'],
  ['2^64 + 5', 'Content-Length: 18446744073709551621'],
  ['40 digits', `Content-Length: ${'9'.repeat(40)}`],
  ['a space before the colon', 'Content-Length : 5'],
  ['folded', 'Content-Length:\r\n 5'],
  ['behind a bare LF', 'X-A: b\nContent-Length: 5'],
  ['behind a bare CR', 'X-A: b\rContent-Length: 5'],
];
const lengthCases = ['POST', 'GET'].flatMap((method) => [
  ...wrongLengths.map(([name, line]) =>
    refused('length', `${method}, ${name}`, `${start(method)}${line}\r\n\r\nabcde`),
  ),
  ...[length('5 '), length('\t5'), length('05'), 'content-length:5\r\n', 'CONTENT-LENGTH: 5\r\n'].map((line) =>
    passes('length', `${method}, as it may be spelt: ${JSON.stringify(line)}`, `${start(method)}${line}\r\nabcde`, {
      method,
      body: 'abcde',
    }),
  ),
  passes('length', `${method}, a request in the body`, `${start(method)}${length(hidden.length)}\r\n${hidden}`, {
    method,
    body: hidden,
  }),
]);

export const lengths: readonly SmugglingCase[] = [...clTe, ...teCl, ...teTe, ...plain, ...lengthCases];
