import { connect } from 'node:net';
import { setImmediate as afterReading, setTimeout as sleep } from 'node:timers/promises';

export interface RawAnswers {
  /** Final statuses, in order. */
  readonly statuses: readonly number[];
  /** Whether the gateway ended the connection; our side stays open. */
  readonly ended: boolean;
  /** The bytes that could not be parsed as a response. */
  readonly rest: string;
}

/** Writes pieces of bytes (latin1) on a new connection, and reads responses until the gateway ends it. */
export async function exchangeRaw(port: number, pieces: readonly string[], withinMs: number): Promise<RawAnswers> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString('latin1')));
  socket.on('error', () => {}); // A cut connection is a valid ending.
  const ended = new Promise<boolean>((resolve) => {
    socket.once('end', () => resolve(true)).once('close', () => resolve(true));
    setTimeout(() => resolve(false), withinMs).unref();
  });
  for (const piece of pieces) {
    if (socket.destroyed) break;
    socket.write(piece, 'latin1');
    if (pieces.length === 1) break;
    await sleep(1);
    // A write to a connection that the gateway has closed meanwhile destroys the socket, with the response that was not read yet.
    await afterReading();
  }
  const closed = await ended;
  socket.destroy();
  return { ...read(text), ended: closed };
}

function read(text: string): { statuses: number[]; rest: string } {
  const statuses: number[] = [];
  let rest = text;
  for (;;) {
    const [head, status] = /^HTTP\/1\.1 (\d{3})[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n/.exec(rest) ?? [];
    if (head === undefined) return { statuses, rest };
    const length = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1] ?? 0);
    rest = rest.slice(head.length);
    // The response to HEAD has a length and no body.
    if (!rest.startsWith('HTTP/1.1 ')) rest = rest.slice(length);
    if (Number(status) >= 200) statuses.push(Number(status));
  }
}
