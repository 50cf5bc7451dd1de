import type { ServerResponse } from 'node:http';
import type { Connection, Connections } from './connections.ts';
import { minimumProgress } from './slow-readers.ts';

const checkIntervalMs = 1_000;

/**
 * Calls `onLate` for connections whose request arrives neither completely within `timeoutMs` nor at 512 KiB in each such
 * time. The rest of a request that already has its response gets `timeoutMs` in total. Node itself limits the time for
 * the headers. Returns a function that stops the checks.
 */
export function watchSenders(
  connections: Connections,
  timeoutMs: number,
  onLate: (connection: Connection) => void,
): () => void {
  const arriving = new WeakMap<ServerResponse, { since: number; read: number }>();
  const timer = setInterval(() => {
    const now = performance.now();
    for (const connection of connections.all()) {
      const { latest, socket, pending } = connection;
      if (!latest || latest.req.complete) continue;
      const read = socket.bytesRead;
      const last = arriving.get(latest);
      // While this side has not read what has arrived, the client cannot send more, so it is not the client that is slow.
      const goesOn =
        !last || (pending.has(latest) && (read - last.read >= minimumProgress || latest.req.readableLength > 0));
      if (goesOn) arriving.set(latest, { since: now, read });
      else if (now - last.since >= timeoutMs) onLate(connection);
    }
  }, checkIntervalMs).unref();
  return () => clearInterval(timer);
}
