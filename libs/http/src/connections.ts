import type { ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';

/** What is known of one connection. */
export interface Connection {
  readonly socket: Socket;
  /** Answers that are still to come or to be taken, in their order. */
  readonly inHand: Set<ServerResponse>;
  /** The answer to the last request that it brought. */
  latest: ServerResponse | undefined;
  /** When the last answer was taken, as `performance.now()` has it; undefined before the first. */
  answeredAt: number | undefined;
  /** Bytes read by then: what has read more since is bringing a request. */
  bytesAtRest: number;
}

export interface Connections {
  /** The open ones. */
  all(): Iterable<Connection>;
  of(socket: unknown): Connection | undefined;
  /**
   * Notes a request by its answer. False when nothing may be done for it: it came behind an answer that ends the
   * connection (RFC 9112 §9.6), and nobody would be told of it.
   */
  enter(res: ServerResponse): boolean;
  /** Whether there is none. */
  readonly none: boolean;
  /** Whether none has brought, nor finished, anything for that many milliseconds. */
  quietFor(ms: number): boolean;
  /** Resolves when the system has no connection left that it took for the server, or a second has passed. */
  allAccepted(): Promise<void>;
}

/** Knows of a server's connections what it does not tell itself: what is in hand on each, and since when nothing is. */
export function watchConnections(server: Server): Connections {
  const open = new Map<unknown, Connection>();
  let latest = performance.now();
  let accepted = 0;

  server.on('connection', (socket: Socket) => {
    accepted++;
    open.set(socket, { socket, inHand: new Set(), latest: undefined, answeredAt: undefined, bytesAtRest: 0 });
    socket.once('close', () => open.delete(socket));
  });

  /** One function for all answers: a closure for each costs more than what it does. */
  function onClose(this: ServerResponse): void {
    const { socket } = this.req;
    const connection = open.get(socket);
    if (!connection) return;
    connection.inHand.delete(this);
    connection.answeredAt = latest = performance.now();
    connection.bytesAtRest = socket.bytesRead;
  }

  return {
    all: () => open.values(),
    of: (socket) => open.get(socket),
    enter(res) {
      const connection = open.get(res.req.socket);
      if (!connection || connection.latest?.getHeader('connection') === 'close') return false;
      connection.latest = res;
      connection.inHand.add(res);
      res.on('close', onClose);
      return true;
    },
    get none() {
      return open.size === 0;
    },
    quietFor(ms) {
      if (performance.now() - latest < ms) return false;
      for (const { inHand, socket, bytesAtRest } of open.values())
        if (inHand.size > 0 || socket.bytesRead > bytesAtRest) return false;
      return true;
    },
    async allAccepted() {
      const deadline = performance.now() + 1_000;
      // One is taken at each turn of the event loop, and the first turn may end before it looks.
      for (let [before, quiet] = [accepted, 0]; quiet < 2 && performance.now() < deadline; before = accepted) {
        await new Promise((resolve) => setImmediate(resolve));
        quiet = accepted === before ? quiet + 1 : 0;
      }
    },
  };
}
