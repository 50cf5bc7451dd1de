import { connect, type TLSSocket } from 'node:tls';

export interface KeptConnection {
  /** Sends the request. Resolves to the milliseconds until its response was there; rejects unless it is 200. */
  beat(): Promise<number>;
  readonly open: boolean;
  close(): void;
}

interface Target {
  readonly url: string;
  readonly ca: string;
  /** The loopback address that it comes from. */
  readonly localAddress: string;
  readonly cert: string;
  readonly key: string;
}

const body = JSON.stringify({ firmware_version: '1.0.0', uptime_seconds: 86_400, clock: new Date().toISOString() });
const request = [
  'POST /v2/device/heartbeat HTTP/1.1',
  'host: 127.0.0.1',
  'content-type: application/json',
  `content-length: ${body.length}`,
  '',
  body,
].join('\r\n');

/** The response at the beginning of what has arrived, if it is complete. */
function statusOf(received: string): number | undefined {
  const head = received.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1]);
  if (received.length < head + 4 + length) return undefined;
  return Number(received.slice(9, 12));
}

/**
 * Opens a connection that sends heartbeats. It is a TLS socket and a response read by hand, because ten thousand of Node's
 * HTTP clients would take the time that is to be measured.
 */
export async function openKept({ url, ...tls }: Target): Promise<KeptConnection> {
  const { hostname: host, port } = new URL(url);
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const opening = connect({ host, port: Number(port), ...tls }, () => resolve(opening)).once('error', reject);
  });
  socket.setNoDelay(true);
  let waiting: { began: number; resolve(ms: number): void; reject(error: Error): void } | undefined;
  let received = '';
  const fail = (error: Error) => {
    waiting?.reject(error);
    waiting = undefined;
  };
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('The connection was closed')));
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
    const status = statusOf(received);
    if (status === undefined) return;
    const done = waiting;
    waiting = undefined;
    if (status === 200) done?.resolve(performance.now() - done.began);
    else done?.reject(new Error(received));
    received = '';
  });
  return {
    beat: () =>
      new Promise((resolve, reject) => {
        waiting = { began: performance.now(), resolve, reject };
        if (socket.writable) socket.write(request);
        else fail(new Error('The connection is closed'));
      }),
    get open() {
      return socket.writable;
    },
    close: () => socket.destroy(),
  };
}
