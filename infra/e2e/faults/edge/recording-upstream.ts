import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { readRequest, type StrictRequest } from './smuggling/strict-request.ts';

export interface RecordingUpstream {
  readonly url: string;
  /** The complete requests, in the order of arrival. */
  readonly requests: readonly StrictRequest[];
  /** Bytes that are not a strictly valid request. */
  readonly ambiguous: readonly { readonly why: string; readonly bytes: string }[];
  stop(): Promise<void>;
}

const body = '{"ok":true}';
const answer = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;

/** A service that parses strictly and records every request. */
export async function startRecordingUpstream(): Promise<RecordingUpstream> {
  const requests: StrictRequest[] = [];
  const ambiguous: { why: string; bytes: string }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket)).on('error', () => {});
    let bytes = '';
    socket.on('data', (data) => {
      bytes += data.toString('latin1');
      try {
        for (;;) {
          const read = readRequest(bytes);
          if (!read) return;
          bytes = read.rest;
          requests.push(read.request);
          socket.write(answer + (read.request.method === 'HEAD' ? '' : body));
        }
      } catch (error) {
        ambiguous.push({ why: (error as Error).message, bytes: bytes.slice(0, 500) });
        socket.destroy();
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    ambiguous,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
