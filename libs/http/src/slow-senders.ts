import type { ServerResponse } from 'node:http';
import type { Connection, Connections } from './connections.ts';
import { least } from './slow-readers.ts';

/** Milliseconds between two looks. */
const interval = 1_000;

/**
 * Tells of connections whose request does not arrive: neither whole within `patience` milliseconds, nor 512 KiB of it in
 * each such time; what is left of one that is answered already has that time altogether. The time to send the head is
 * Node's to watch. Returns what ends the watch.
 */
export function watchSenders(
  connections: Connections,
  patience: number,
  onLate: (connection: Connection) => void,
): () => void {
  const arriving = new WeakMap<ServerResponse, { since: number; read: number }>();
  const timer = setInterval(() => {
    const now = performance.now();
    for (const connection of connections.all()) {
      const { latest, socket, inHand } = connection;
      if (!latest || latest.req.complete) continue;
      const read = socket.bytesRead;
      const last = arriving.get(latest);
      // What has come and is not taken yet is ours to take: meanwhile nothing else comes.
      const goesOn = !last || (inHand.has(latest) && (read - last.read >= least || latest.req.readableLength > 0));
      if (goesOn) arriving.set(latest, { since: now, read });
      else if (now - last.since >= patience) onLate(connection);
    }
  }, interval).unref();
  return () => clearInterval(timer);
}
