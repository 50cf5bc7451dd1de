import type { Socket } from 'node:net';
import type { Chance } from '@attribution/testing';

/**
 * What the client must receive: `refused` is 502 with problem details, `cut` a response that ends early, `answered` the
 * whole response, `either` the whole response or 502.
 */
export type Ending = 'refused' | 'cut' | 'answered' | 'either';

export interface HostileAnswer {
  readonly name: string;
  readonly ending: Ending;
  readonly play: (socket: Socket, chance: Chance) => void;
}

export const wholeBody = '{"ok":true}';
const json = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const whole = `${json}Content-Length: ${wholeBody.length}\r\n\r\n${wholeBody}`;
const tenBytes = `${json}Content-Length: 10\r\n\r\n`;
const chunks = `${json}Transfer-Encoding: chunked\r\n\r\n`;
const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n';

/** Writes a piece again and again until the gateway closes the connection. */
function drip(socket: Socket, piece: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(piece), everyMs);
  socket.once('close', () => clearInterval(timer));
}

/** Writes, and resets the connection once the bytes have arrived, because a reset discards bytes that were not read yet. */
function writeAndReset(socket: Socket, text: string): void {
  socket.write(text, () => setTimeout(() => socket.resetAndDestroy(), 20));
}

const refused: readonly (readonly [string, HostileAnswer['play']])[] = [
  ['hangs', () => {}],
  ['hangs in the status line', (socket) => socket.write('HTTP/1.1 2')],
  ['hangs in the headers', (socket) => socket.write(json)],
  ['closes', (socket) => socket.end()],
  ['closes in the headers', (socket) => socket.end(json)],
  ['resets', (socket) => socket.resetAndDestroy()],
  ['resets in the headers', (socket) => writeAndReset(socket, json)],
  ['one header of 20 KB', (socket) => socket.write(`${json}X-Large: ${'x'.repeat(20_000)}\r\n\r\n`)],
  ['one header of 1 MB', (socket) => socket.end(`${json}X-Large: ${'x'.repeat(1_000_000)}\r\n\r\n`)],
  ['300 headers of 100 bytes', (socket) => socket.end(`${json}${`X-Many: ${'x'.repeat(90)}\r\n`.repeat(300)}\r\n`)],
  [
    'headers without an end',
    (socket) => {
      socket.write(json);
      drip(socket, 'X-More: and more\r\n', 20);
    },
  ],
  [
    'one header byte by byte',
    (socket) => {
      socket.write(`${json}X-Slow: `);
      drip(socket, 'x', 20);
    },
  ],
  ['100 Continue without an end', (socket) => drip(socket, 'HTTP/1.1 100 Continue\r\n\r\n', 20)],
  ['103 Early Hints without an end', (socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', 20)],
  ['102 and a hang', (socket) => socket.write('HTTP/1.1 102 Processing\r\n\r\n')],
  ['101 without a request for it', (socket) => socket.write(switching)],
  ['garbage', (socket) => socket.end('\x00\xff\x13\x37'.repeat(1_000), 'latin1')],
  ['another protocol', (socket) => socket.end('220 mail.example ESMTP\r\n')],
  ['an unknown version', (socket) => socket.end('HTTP/9.9 200 OK\r\n\r\n')],
  ['a status below 100', (socket) => socket.end('HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n')],
  ['two lengths', (socket) => socket.end(`${json}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`)],
  ['a negative length', (socket) => socket.end(`${json}Content-Length: -1\r\n\r\nab`)],
  ['a length that is no number', (socket) => socket.end(`${json}Content-Length: two\r\n\r\nab`)],
  ['a NUL in a header', (socket) => socket.end(`${json}X-Bad: a\0b\r\nContent-Length: 0\r\n\r\n`)],
];

const cut: readonly (readonly [string, HostileAnswer['play']])[] = [
  ['hangs in the body', (socket) => socket.write(`${tenBytes}{"a":`)],
  ['hangs in a chunk', (socket) => socket.write(`${chunks}9\r\n{"a":`)],
  ['hangs between chunks', (socket) => socket.write(`${chunks}5\r\n{"a":\r\n`)],
  ['closes in the body: a length too long', (socket) => socket.end(`${tenBytes}{"a":`)],
  ['closes between chunks', (socket) => socket.end(`${chunks}5\r\n{"a":\r\n`)],
  ['resets in the body', (socket) => writeAndReset(socket, `${tenBytes}{"a":`)],
  ['resets between chunks', (socket) => writeAndReset(socket, `${chunks}5\r\n{"a":\r\n`)],
  ['a chunk size that is none', (socket) => socket.write(`${chunks}5\r\n{"a":\r\nzz\r\n`)],
  ['a chunk longer than its size', (socket) => socket.write(`${chunks}2\r\n{"a":\r\n`)],
];

const answered: readonly (readonly [string, HostileAnswer['play']])[] = [
  // Bytes after the end of a response must be discarded, and never reach the next client.
  ['a length too short', (socket) => socket.write(`${whole}and more of it`)],
  ['a second answer behind the first', (socket) => socket.write(`${whole}${json}Content-Length: 6\r\n\r\nplant!`)],
  [
    'an answer after 50 early hints',
    (socket) => socket.write(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(50)}${whole}`),
  ],
  [
    'an answer in pieces',
    (socket) => {
      for (const byte of whole) socket.setNoDelay().write(byte);
    },
  ],
];

/** Closes an idle connection, which the gateway may be using for the next request at that very moment. */
function answerAndClose(socket: Socket, chance: Chance): void {
  socket.write(whole);
  const timer = setTimeout(() => socket.end(), chance.int(0, 20));
  socket.once('data', () => clearTimeout(timer));
  if (chance.share() < 0.2) socket.end();
}

const as = (ending: Ending) => (pair: readonly [string, HostileAnswer['play']]) => ({
  name: pair[0],
  ending,
  play: pair[1],
});

export const hostileAnswers: readonly HostileAnswer[] = [
  ...refused.map(as('refused')),
  ...cut.map(as('cut')),
  ...answered.map(as('answered')),
  { name: 'closes idle connections at random', ending: 'either', play: answerAndClose },
];
