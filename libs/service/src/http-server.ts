import { createServer, Server as HttpServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { newUuid, Problem } from '@attribution/contracts';

export interface RunningServer {
  readonly port: number;
  /** Cuts no request: answers what is in hand and what still arrives on open connections, until `deadline` (ms). */
  close(deadline: number): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  readonly problemBase: string;
}

/** How long an idle keep-alive connection may still bring a request after the last answer said `close`. */
const lastWords = 250;

export async function listen(
  handler: (req: IncomingMessage, res: ServerResponse) => void,
  options: ListenOptions,
): Promise<RunningServer> {
  let closing = false;
  const inHand = new Set<ServerResponse>();
  const onRequest = (req: IncomingMessage, res: ServerResponse) => {
    inHand.add(res);
    if (closing) res.setHeader('connection', 'close');
    res.on('close', () => inHand.delete(res));
    handler(req, res);
  };
  const server = createServer(
    {
      keepAliveTimeout: 65_000,
      headersTimeout: 20_000,
      requestTimeout: 60_000,
      maxHeaderSize: 16_384,
      requireHostHeader: false, // The handler says so, as a problem.
    },
    onRequest,
  );
  server.on('checkExpectation', onRequest); // An unknown expectation may be ignored (RFC 9110 §10.1.1).
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else endWith(new Problem('validation-error', describe(error.code)), socket, options.problemBase);
  });
  server.on('connect', (_req, socket) => {
    // From here on the server itself knows nothing of the socket: neither its errors, nor that it is to be closed.
    for (const event of ['error', 'finish']) socket.on(event, () => socket.destroy());
    endWith(Problem.notFound(), socket, options.problemBase);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });

  return {
    port: (server.address() as AddressInfo).port,
    async close(deadline) {
      closing = true;
      // Also where the answer is still to come: its connection would be used again, and cut with what it brings.
      for (const res of inHand) if (!res.headersSent) res.setHeader('connection', 'close');
      // The http server's own close() ends idle connections at once, and a request on its way to one is lost.
      const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
      await new Promise((resolve) => setTimeout(resolve, lastWords));
      while (inHand.size > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
      HttpServer.prototype.closeAllConnections.call(server);
      await closed;
    },
  };
}

/** What no handler gets to see, since it is no HTTP request, or asks for a tunnel, is answered with a problem too. */
function endWith(problem: Problem, socket: Duplex, problemBase: string): void {
  const body = JSON.stringify(problem.toJSON(problemBase));
  const headers = {
    ...problem.toHeaders(),
    'x-request-id': newUuid(),
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`, ...lines, '', body].join('\r\n'));
}

function describe(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'The headers are larger than 16 KiB.';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'The request did not arrive in time.';
  return 'This is not a valid HTTP request.';
}
