import type { ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';

/** The state of one connection. */
export interface Connection {
  readonly socket: Socket;
  /** Responses that are not completely sent, in the order of their requests. */
  readonly pending: Set<ServerResponse>;
  /** The response to the connection's last request. */
  latest: ServerResponse | undefined;
  /** When the last response was sent, by `performance.now()`; undefined before the first. */
  answeredAt: number | undefined;
  /** Bytes read by then. If more were read since, a request is arriving. */
  bytesReadByThen: number;
}

export interface Connections {
  /** All open connections. */
  all(): Iterable<Connection>;
  of(socket: unknown): Connection | undefined;
  /**
   * Registers a request by its response. False if the request must not be handled: it arrived after a response that ends
   * the connection (RFC 9112 §9.6), so its own response could not be sent.
   */
  enter(res: ServerResponse): boolean;
  /** Whether no connection is open. */
  readonly none: boolean;
  /** Whether no request has arrived and no response has ended for that many milliseconds. */
  quietFor(ms: number): boolean;
  /** Resolves when the server has accepted all connections that the operating system completed for it, or after `ms`. */
  allAccepted(ms: number): Promise<void>;
  /** Closes without notice, and without waiting for what is still to be sent. */
  reset(connection: Connection): void;
  /** Closes what has not become a connection yet: unfinished TLS handshakes. */
  dropUnfinished(): void;
}

/** A TLS socket does not name the TCP socket below it, but has its addresses. */
const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;

/**
 * Tracks what Node's server does not expose: the pending responses of each connection, and since when it is idle. A
 * connection of a TLS server (`secure`) begins with the end of its handshake.
 */
export function watchConnections(server: Server, secure = false): Connections {
  const open = new Map<unknown, Connection>();
  /** The TCP connections below TLS. */
  const below = new Map<string, Socket>();
  let latest = performance.now();
  let accepted = 0;

  server.on('connection', (socket: Socket) => {
    accepted++;
    if (!secure) return;
    latest = performance.now(); // A request follows the handshake.
    const peer = peerOf(socket);
    below.set(peer, socket);
    socket.once('close', () => {
      if (below.get(peer) === socket) below.delete(peer);
    });
  });
  server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => {
    open.set(socket, { socket, pending: new Set(), latest: undefined, answeredAt: undefined, bytesReadByThen: 0 });
    socket.once('close', () => open.delete(socket));
  });

  /** One function for all responses, because a closure for each would cost more than its work. */
  function onClose(this: ServerResponse): void {
    const { socket } = this.req;
    const connection = open.get(socket);
    if (!connection) return;
    connection.pending.delete(this);
    connection.answeredAt = latest = performance.now();
    connection.bytesReadByThen = socket.bytesRead;
  }

  return {
    all: () => open.values(),
    of: (socket) => open.get(socket),
    enter(res) {
      const connection = open.get(res.req.socket);
      if (!connection || connection.latest?.getHeader('connection') === 'close') return false;
      connection.latest = res;
      connection.pending.add(res);
      res.on('close', onClose);
      return true;
    },
    get none() {
      return open.size === 0 && below.size === 0;
    },
    quietFor(ms) {
      if (performance.now() - latest < ms) return false;
      for (const { pending, socket, bytesReadByThen } of open.values())
        if (pending.size > 0 || socket.bytesRead > bytesReadByThen) return false;
      return true;
    },
    async allAccepted(ms) {
      const deadline = performance.now() + ms;
      // Each turn of the event loop accepts one connection, and the first turn may end before that. Turns are long while a
      // process that has just started is stopped on a busy machine.
      for (let [before, quiet] = [accepted, 0]; quiet < 2 && performance.now() < deadline; before = accepted) {
        await new Promise((resolve) => setImmediate(resolve));
        quiet = accepted === before ? quiet + 1 : 0;
      }
    },
    reset({ socket }) {
      const tcp = secure ? below.get(peerOf(socket)) : socket;
      if (secure) socket.destroy(); // Node resets TCP sockets only.
      tcp?.resetAndDestroy();
    },
    dropUnfinished() {
      for (const socket of below.values()) socket.destroy();
    },
  };
}
