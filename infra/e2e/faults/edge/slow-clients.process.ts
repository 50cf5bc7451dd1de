/**
 * Clients that are slow on purpose, in their own process so that their cost does not affect the measurements. Writes a
 * report as a line of JSON to stdout every 250 ms: `{ open, ended, longest }`.
 */
import { connect, type Socket } from 'node:net';
import type { SlowKind, SlowReport } from './slow-clients.ts';

const port = Number(process.env.PORT);
const clients = Number(process.env.CLIENTS);
const paceMs = Number(process.env.PACE_MS);
const head = `Host: a\r\nAuthorization: Bearer ${process.env.TOKEN}\r\n`;

/** What each kind of client sends at first, and what it then does every `PACE_MS`. */
const kinds: Record<SlowKind, { first: string; next: (socket: Socket) => unknown }> = {
  headers: { first: `GET /v2/groups HTTP/1.1\r\n${head}X-Slow: `, next: (socket) => socket.write('x') },
  body: {
    first: `POST /v2/groups HTTP/1.1\r\n${head}Content-Length: 100000\r\n\r\n`,
    next: (socket) => socket.write('x'),
  },
  refused: {
    first: `POST /v2/nothing HTTP/1.1\r\n${head}Content-Length: 100000\r\n\r\n`,
    next: (socket) => socket.write('x'),
  },
  answer: {
    first: `GET /v2/groups?large=1 HTTP/1.1\r\n${head}\r\n`,
    next(socket) {
      socket.read(1);
      // A client that does not read notices only by writing that the connection was closed. Empty lines are ignored (RFC 9112 §2.2).
      socket.write('\r\n');
    },
  },
};
const names = Object.keys(kinds) as SlowKind[];
const report: SlowReport = {
  open: 0,
  ended: { headers: 0, body: 0, refused: 0, answer: 0 },
  longest: { headers: 0, body: 0, refused: 0, answer: 0 },
};

function begin(kind: SlowKind): void {
  const started = performance.now();
  const { first, next } = kinds[kind];
  // The clients keep their side open when the server ends its side.
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  report.open++;
  socket.on('error', () => {});
  if (kind === 'answer') socket.on('readable', () => {});
  else socket.resume();
  socket.write(first);
  const timer = setInterval(() => next(socket), paceMs);
  socket.once('close', () => {
    clearInterval(timer);
    report.open--;
    report.ended[kind]++;
    report.longest[kind] = Math.max(report.longest[kind], performance.now() - started);
  });
}

for (let n = 0; n < clients; n++) {
  begin(names[n % names.length] ?? 'headers');
  await new Promise((resolve) => setTimeout(resolve, 5));
}
setInterval(() => process.stdout.write(`${JSON.stringify(report)}\n`), 250);
