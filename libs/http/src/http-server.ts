import { createServer, Server as HttpServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Problem } from '@attribution/contracts';
import { watchConnections } from './connections.ts';
import { watchIdle } from './idle-connections.ts';
import { newRequestId } from './random.ts';
import { watchReaders } from './slow-readers.ts';
import { watchSenders } from './slow-senders.ts';

export interface RunningServer {
  readonly port: number;
  /**
   * Cuts no request: answers what is in hand and what still arrives on open connections, until nothing has come for
   * `silence` milliseconds, or until `deadline` (ms since the epoch).
   */
  close(deadline: number, silence?: number): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  readonly problemBase: string;
  /** Milliseconds in which a client must send a request or 512 KiB of it, and take an answer or 512 KiB of it. */
  readonly clientTimeout?: number;
}

const late = 'The request did not arrive in time.';
/** After which no kept connection is believed to bring another request, milliseconds. */
const lastWords = 250;
/** How long a connection is kept for the next request: longer than balancers keep theirs, which would send into its end. */
const kept = 65_000;
/**
 * How long clients are told that it is, milliseconds. Those that believe it leave an unused one by themselves: after as
 * much silence a server that stops ends none that they would still send into.
 */
export const keptByClients = 4_000;
/** How long a server keeps connections, and tells its clients. */
export const keepAlive = { keepAliveTimeout: keptByClients, keepAliveTimeoutBuffer: kept - keptByClients };
/** How long a client may read what it is told at the end, and end the connection itself. */
const farewell = 1_000;

export async function listen(
  handler: (req: IncomingMessage, res: ServerResponse) => void,
  options: ListenOptions,
): Promise<RunningServer> {
  const { problemBase, clientTimeout = 60_000 } = options;
  const headersTimeout = Math.min(20_000, clientTimeout);
  let closing = false;
  /** Ended by us, and listened to for a moment; whatever comes now is nothing to anybody. */
  const leaving = new WeakSet<Duplex>();
  const onRequest = (req: IncomingMessage, res: ServerResponse) => {
    if (!connections.enter(res)) return;
    // Node loses what comes right behind a request that asks for another protocol.
    if (closing || req.headers.upgrade !== undefined) res.setHeader('connection', 'close');
    handler(req, res);
  };
  const server = createServer(
    {
      ...keepAlive,
      headersTimeout,
      requestTimeout: 0, // It knows no progress, and would cut every long upload.
      connectionsCheckingInterval: 1_000, // How late `headersTimeout` may be.
      maxHeaderSize: 16_384,
      requireHostHeader: false, // The handler says so, as a problem.
    },
    onRequest,
  );
  server.on('checkExpectation', onRequest); // An unknown expectation may be ignored (RFC 9110 §10.1.1).
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    if (leaving.has(socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else void refuse(new Problem('validation-error', describe(error.code)), socket);
  });
  server.on('connect', (_req, socket) => {
    // From here on the server itself knows nothing of the socket: neither its errors, nor that it is to be closed.
    for (const event of ['error', 'finish']) socket.on(event, () => socket.destroy());
    endWith(Problem.notFound(), socket, problemBase);
  });
  /** Behind the answers to what came before it on the connection: in front of one, it would be taken for that answer. */
  async function refuse(problem: Problem, socket: Duplex): Promise<void> {
    leaving.add(socket);
    const onSocket = [...(connections.of(socket)?.inHand ?? [])];
    const earlier = onSocket.filter(({ req }) => req.complete);
    await Promise.all(earlier.map((res) => new Promise((resolve) => res.once('close', resolve))));
    if (onSocket.some((res) => !res.req.complete && res.headersSent)) socket.destroy();
    else endWith(problem, socket, problemBase);
    leave(socket);
  }
  /** RFC 9112 §9.6: who is cut off while it still sends is reset, and may lose what it was told. */
  function leave(socket: Duplex): void {
    leaving.add(socket);
    if (socket.writable) socket.end();
    setTimeout(() => socket.destroy(), farewell).unref();
  }
  // Behind an answer that ends the connection Node would destroy it as soon as that is written.
  server.on('connection', (socket: Socket) => {
    socket.destroySoon = () => leave(socket);
  });
  const connections = watchConnections(server);
  const unwatch = [
    watchReaders(connections, clientTimeout),
    watchSenders(connections, clientTimeout, ({ socket }) => {
      if (!leaving.has(socket)) void refuse(new Problem('validation-error', late), socket);
    }),
    watchIdle(connections, kept + headersTimeout), // The next request may begin at the last moment.
  ];
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });

  return {
    port: (server.address() as AddressInfo).port,
    async close(deadline, silence = lastWords) {
      // Before anybody is told to leave, as who leaves comes back: what waits when the server stops listening is reset.
      await connections.allAccepted();
      // The http server's own close() ends idle connections at once, and a request on its way to one is lost.
      const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
      closing = true;
      // Also where the answer is still to come: its connection would be used again, and cut with what it brings.
      for (const { inHand } of connections.all())
        for (const res of inHand) if (!res.headersSent) res.setHeader('connection', 'close');
      const began = performance.now();
      const done = () => connections.none || (performance.now() - began >= silence && connections.quietFor(silence));
      while (!done() && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        // A process that was kept from running has not looked yet at what came meanwhile: it does before this resolves.
        await new Promise((resolve) => setImmediate(resolve));
      }
      for (const end of unwatch) end();
      HttpServer.prototype.closeAllConnections.call(server);
      await closed;
      // It alone ends Node's own watch over connections, whose timer keeps the server and all that its handler has.
      HttpServer.prototype.close.call(server);
    },
  };
}

/** What no handler gets to see, since it is no HTTP request, or asks for a tunnel, is answered with a problem too. */
function endWith(problem: Problem, socket: Duplex, problemBase: string): void {
  const body = JSON.stringify(problem.toJSON(problemBase));
  const headers = {
    ...problem.toHeaders(),
    'x-request-id': newRequestId(),
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`, ...lines, '', body].join('\r\n'));
}

function describe(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'The headers are larger than 16 KiB.';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return late;
  return 'This is not a valid HTTP request.';
}
