import type { ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';

export interface Connections {
  /** Whether there is none. */
  readonly none: boolean;
  /** Whether none has brought, nor finished, anything for that many milliseconds. */
  quietFor(ms: number): boolean;
  /** Notes a request and its answer. */
  note(res: ServerResponse): void;
  /** Resolves when the system has no connection left that it took for the server, or a second has passed. */
  allAccepted(): Promise<void>;
}

/** Knows of a server's connections what its close() does not: whether one may just be bringing a request. */
export function watchConnections(server: Server): Connections {
  /** Bytes read when a connection had nothing to be answered: what has read more since is bringing a request. */
  const atRest = new Map<Socket, number>();
  const inHand = new Map<Socket, number>();
  let latest = performance.now();
  let accepted = 0;

  server.on('connection', (socket: Socket) => {
    accepted++;
    atRest.set(socket, 0);
    socket.once('close', () => atRest.delete(socket));
  });
  return {
    get none() {
      return atRest.size === 0;
    },
    quietFor(ms) {
      if (inHand.size > 0 || performance.now() - latest < ms) return false;
      for (const [socket, bytes] of atRest) if (socket.bytesRead > bytes) return false;
      return true;
    },
    note(res) {
      const { socket } = res.req;
      inHand.set(socket, (inHand.get(socket) ?? 0) + 1);
      res.once('close', () => {
        const others = (inHand.get(socket) ?? 1) - 1;
        if (others > 0) inHand.set(socket, others);
        else inHand.delete(socket);
        if (!atRest.has(socket)) return;
        atRest.set(socket, socket.bytesRead);
        latest = performance.now();
      });
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
