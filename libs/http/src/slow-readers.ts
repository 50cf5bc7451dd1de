import type { Socket } from 'node:net';
import type { Connections } from './connections.ts';

/** Bytes of a large response that a client must receive within its timeout, and of a large request that it must send. */
export const minimumProgress = 512 * 1024;
const checkIntervalMs = 1_000;

/**
 * Resets the connections of clients that do not receive their response, because no other timeout would end them. Returns
 * a function that stops the checks.
 */
export function watchReaders(connections: Connections, timeoutMs: number): () => void {
  const waiting = new WeakMap<Socket, { since: number; received: number }>();
  const timer = setInterval(() => {
    const now = performance.now();
    for (const connection of connections.all()) {
      const { socket, pending } = connection;
      if (pending.size === 0 || socket.writableLength === 0) {
        waiting.delete(socket);
        continue;
      }
      const received = socket.bytesWritten - socket.writableLength;
      const last = waiting.get(socket);
      if (!last || received - last.received >= minimumProgress) waiting.set(socket, { since: now, received });
      else if (now - last.since >= timeoutMs) connections.reset(connection);
    }
  }, checkIntervalMs).unref();
  return () => clearInterval(timer);
}
