import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * What happens to the bytes: they pass, they pass after a delay (in milliseconds, in each direction), they are accepted but
 * held back, or connections are reset and new ones refused.
 */
export type Way = 'pass' | 'hang' | 'refuse' | { readonly delay: number };

/** A proxy between two programs, whose behaviour can be changed. */
export interface TcpProxy {
  readonly port: number;
  /** Also affects open connections. Bytes that were held back are sent when bytes pass again. */
  set(way: Way): Promise<void>;
  stop(): Promise<void>;
}

/** One direction of a connection. */
interface Lane {
  readonly to: Socket;
  readonly waiting: { readonly due: number; readonly bytes: Buffer }[];
  timer?: NodeJS.Timeout | undefined;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** `target` is where connections are forwarded to, or a function that is called for each connection. */
export async function startTcpProxy(target: Address | (() => Address)): Promise<TcpProxy> {
  let way: Way = 'pass';
  const sockets = new Set<Socket>();
  const lanes = new Set<Lane>();

  /** Sends the bytes that are due, in order. */
  function pump(lane: Lane): void {
    clearTimeout(lane.timer);
    if (way === 'hang') return;
    const now = performance.now();
    for (let first = lane.waiting[0]; first; first = lane.waiting[0]) {
      if (first.due > now) {
        lane.timer = setTimeout(() => pump(lane), first.due - now);
        return;
      }
      lane.to.write(first.bytes);
      lane.waiting.shift();
    }
  }

  function join(from: Socket, to: Socket): void {
    const lane: Lane = { to, waiting: [] };
    lanes.add(lane);
    sockets.add(from);
    from.on('error', () => {});
    from.on('data', (bytes: Buffer) => {
      const delay = typeof way === 'object' ? way.delay : 0;
      lane.waiting.push({ due: Math.max(lane.waiting.at(-1)?.due ?? 0, performance.now() + delay), bytes });
      pump(lane);
    });
    from.once('close', () => {
      clearTimeout(lane.timer);
      lanes.delete(lane);
      sockets.delete(from);
      to.destroy();
    });
  }

  const accept = (client: Socket) => {
    const server = connect(typeof target === 'function' ? target() : target);
    for (const socket of [client, server]) socket.setNoDelay();
    join(client, server);
    join(server, client);
  };
  const listenAt = async (port: number): Promise<Server> => {
    const server = createServer(accept).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  async function leave(server: Server): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
  }

  let server: Server | undefined = await listenAt(0);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async set(next) {
      way = next;
      if (next === 'refuse') {
        if (server) await leave(server);
        server = undefined;
        return;
      }
      server ??= await listenAt(port);
      for (const lane of lanes) pump(lane);
    },
    async stop() {
      if (server) await leave(server);
      server = undefined;
    },
  };
}
