import { createServer, Server as HttpServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Problem } from '@attribution/contracts';
import { type ConnectionCap, capConnections } from './connection-cap.ts';
import { watchConnections } from './connections.ts';
import { watchIdle } from './idle-connections.ts';
import { newRequestId } from './random.ts';
import { securityHeaders } from './security-headers.ts';
import { watchReaders } from './slow-readers.ts';
import { watchSenders } from './slow-senders.ts';
import { type TlsServing, tlsOptions } from './tls-options.ts';

export interface RunningServer {
  readonly port: number;
  /**
   * Closes without cutting off a request: responds to pending requests and to those that still arrive on open connections,
   * until no connection was used for `silence` milliseconds, or until `deadline` (ms since the epoch).
   */
  close(deadline: number, silence?: number): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly problemBase: string;
  /** Milliseconds in which a client must send a request, or 512 KiB of it, and receive a response, or 512 KiB of it. */
  readonly clientTimeout?: number;
  /** Default: clients may have any number of connections. */
  readonly connectionCap?: ConnectionCap;
  /** Default: plain HTTP. */
  readonly tls?: TlsServing;
}

const late = 'The request did not arrive in time.';
/** After this much silence no further request is expected on the open connections. */
const closingSilenceMs = 250;
/** An idle connection is kept longer than balancers keep theirs, so that they never send a request while it is being closed. */
const idleTimeoutMs = 65_000;
/**
 * The idle timeout that clients are told, in milliseconds. Clients that honour it close unused connections themselves, so
 * after as much silence a stopping server closes no connection on which they would still send.
 */
export const keptByClients = 4_000;
/** Node sends clients the first, and closes an idle connection after the sum. */
export const keepAlive = { keepAliveTimeout: keptByClients, keepAliveTimeoutBuffer: idleTimeoutMs - keptByClients };
/**
 * How many connections may wait to be accepted; Linux lowers it to `net.core.somaxconn`. The system ignores whoever connects
 * beyond it, and that client tries again after a second. Node's default is 511.
 */
const backlog = 4_096;
/** How long a client may read the last response and close the connection itself. */
const lingerMs = 1_000;

export async function listen(
  handler: (req: IncomingMessage, res: ServerResponse) => void,
  options: ListenOptions,
): Promise<RunningServer> {
  const { problemBase, tls, clientTimeout = 60_000 } = options;
  const headersTimeout = Math.min(20_000, clientTimeout);
  let closing = false;
  /** Requests that wait until the server no longer listens. */
  let held: (() => void)[] | undefined;
  /** Connections that this side has ended. They stay open for a moment, and what arrives on them is ignored. */
  const leaving = new WeakSet<Duplex>();
  const onRequest = (req: IncomingMessage, res: ServerResponse) => {
    if (!connections.enter(res)) return;
    if (held) held.push(() => handle(req, res));
    else handle(req, res);
  };
  const handle = (req: IncomingMessage, res: ServerResponse) => {
    // Node loses what arrives right after a request with `Upgrade`, so the connection is not used further.
    if (closing || req.headers.upgrade !== undefined) res.setHeader('connection', 'close');
    handler(req, res);
  };
  const settings = {
    ...keepAlive,
    headersTimeout,
    requestTimeout: 0, // Node's limit ignores progress, and would cut off every long upload.
    connectionsCheckingInterval: 1_000, // The resolution of `headersTimeout`.
    maxHeaderSize: 16_384,
    highWaterMark: 16_384, // With Node's 64 KiB a body is read twice before it waits.
    requireHostHeader: false, // The handler refuses it with a problem.
  };
  const server = tls
    ? createSecureServer({ ...settings, ...tlsOptions(tls) }, onRequest)
    : createServer(settings, onRequest);
  server.on('checkExpectation', onRequest); // An unknown expectation may be ignored (RFC 9110 §10.1.1).
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    if (leaving.has(socket)) return;
    if (tls && !connections.of(socket)) {
      tls.onFailedHandshake();
      socket.destroy();
    } else if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else void refuse(new Problem('validation-error', describe(error.code)), socket);
  });
  server.on('connect', (_req, socket) => {
    // Node hands the socket over here: it no longer handles the socket's errors, and does not close it.
    for (const event of ['error', 'finish']) socket.on(event, () => socket.destroy());
    endWith(Problem.notFound(), socket, problemBase);
  });
  /** Waits for the responses to earlier requests of the connection: sent before them, the problem would be taken for one. */
  async function refuse(problem: Problem, socket: Duplex): Promise<void> {
    leaving.add(socket);
    const onSocket = [...(connections.of(socket)?.pending ?? [])];
    const earlier = onSocket.filter(({ req }) => req.complete);
    await Promise.all(earlier.map((res) => new Promise((resolve) => res.once('close', resolve))));
    if (onSocket.some((res) => !res.req.complete && res.headersSent)) socket.destroy();
    else endWith(problem, socket, problemBase);
    leave(socket);
  }
  /** RFC 9112 §9.6: closing while the client still sends would reset the connection, and the client could lose the response. */
  function leave(socket: Duplex): void {
    leaving.add(socket);
    if (socket.writable) socket.end();
    setTimeout(() => socket.destroy(), lingerMs).unref();
  }
  // After a response that ends the connection, Node would destroy the socket as soon as the response is written.
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    const destroySoon = () => leave(socket);
    socket.destroySoon = destroySoon;
  });
  if (options.connectionCap) capConnections(server, options.connectionCap);
  const connections = watchConnections(server, tls !== undefined);
  const unwatch = [
    watchReaders(connections, clientTimeout),
    watchSenders(connections, clientTimeout, ({ socket }) => {
      if (!leaving.has(socket)) void refuse(new Problem('validation-error', late), socket);
    }),
    watchIdle(connections, idleTimeoutMs + headersTimeout), // The next request may begin at the last moment.
  ];
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, backlog, resolve);
  });

  return {
    port: (server.address() as AddressInfo).port,
    async close(deadline, silence = closingSilenceMs) {
      // A connection that is not yet accepted is reset when the server stops listening, so all are accepted first. More
      // arrive while a request is handled: those that arrive now wait.
      held = [];
      await connections.allAccepted((deadline - Date.now()) / 2); // The other half is for the responses.
      // The HTTP server's own close() ends idle connections at once, and would lose a request that is arriving on one.
      const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
      closing = true;
      // Pending responses end their connections too, or clients would send another request on them and have it cut off.
      for (const { pending } of connections.all())
        for (const res of pending) if (!res.headersSent) res.setHeader('connection', 'close');
      const waited = held;
      held = undefined;
      for (const handleNow of waited) handleNow();
      const began = performance.now();
      const done = () => connections.none || (performance.now() - began >= silence && connections.quietFor(silence));
      while (!done() && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        // If the process did not get to run meanwhile, this lets it read what has arrived before the next check.
        await new Promise((resolve) => setImmediate(resolve));
      }
      for (const end of unwatch) end();
      HttpServer.prototype.closeAllConnections.call(server);
      connections.dropUnfinished();
      await closed;
      // Only this stops Node's timer for connection timeouts, which would keep the server and its handler in memory.
      HttpServer.prototype.close.call(server);
    },
  };
}

/** Responds with a problem to what never reaches the handler: invalid HTTP, and requests for a tunnel. */
function endWith(problem: Problem, socket: Duplex, problemBase: string): void {
  const body = JSON.stringify(problem.toJSON(problemBase));
  const headers = {
    ...problem.toHeaders(),
    ...securityHeaders,
    'cache-control': 'no-store',
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
