import type { Server, Socket } from 'node:net';

/** How many connections a client may have at the same time. */
export interface ConnectionCap {
  readonly limit: number;
  /** What counts as one client; undefined for an address that is not limited, such as a balancer's. */
  clientOf(address: string): string | undefined;
  onRefused(): void;
}

/** Resets the connections of a client beyond the cap before anything is read from them. */
export function capConnections(server: Server, { limit, clientOf, onRefused }: ConnectionCap): void {
  const open = new Map<string, number>();
  // Before Node's own listener, and before those of the other limits.
  server.prependListener('connection', (socket: Socket) => {
    const client = clientOf(socket.remoteAddress ?? '');
    if (client === undefined) return;
    const count = open.get(client) ?? 0;
    if (count >= limit) {
      onRefused();
      socket.resetAndDestroy();
      return;
    }
    open.set(client, count + 1);
    socket.once('close', () => {
      const left = (open.get(client) ?? 1) - 1;
      if (left > 0) open.set(client, left);
      else open.delete(client);
    });
  });
}
