import type { Connections } from './connections.ts';

/** Milliseconds between two looks. */
const interval = 1_000;

/**
 * Ends connections that bring no request for `limit` milliseconds after their last answer. Node's own patience begins
 * anew at each byte, and empty lines between requests are bytes without being a request (RFC 9112 §2.2). Returns what
 * ends the watch.
 */
export function watchIdle(connections: Connections, limit: number): () => void {
  const timer = setInterval(() => {
    const now = performance.now();
    for (const { socket, inHand, answeredAt } of connections.all())
      if (inHand.size === 0 && answeredAt !== undefined && now - answeredAt >= limit) socket.destroy();
  }, interval).unref();
  return () => clearInterval(timer);
}
