import type { Socket } from 'node:net';
import type { Connections } from './connections.ts';

/** Bytes of an answer that a client must take within its time, and of a request that it must send, when there are more. */
export const least = 512 * 1024;
/** Milliseconds between two looks. */
const interval = 1_000;

/**
 * Resets the connections of clients that let an answer wait: for them alone nothing else would ever end it. Returns
 * what ends the watch. `patience` is in milliseconds.
 */
export function watchReaders(connections: Connections, patience: number): () => void {
  const waiting = new WeakMap<Socket, { since: number; taken: number }>();
  const timer = setInterval(() => {
    const now = performance.now();
    for (const { socket, inHand } of connections.all()) {
      if (inHand.size === 0 || socket.writableLength === 0) {
        waiting.delete(socket);
        continue;
      }
      const taken = socket.bytesWritten - socket.writableLength;
      const last = waiting.get(socket);
      if (!last || taken - last.taken >= least) waiting.set(socket, { since: now, taken });
      else if (now - last.since >= patience) socket.resetAndDestroy();
    }
  }, interval).unref();
  return () => clearInterval(timer);
}
