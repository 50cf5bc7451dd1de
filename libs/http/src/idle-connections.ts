import type { Connections } from './connections.ts';

const checkIntervalMs = 1_000;

/**
 * Closes connections that bring no request for `timeoutMs` after their last response. Node's own timeout restarts at every
 * byte, and clients may send empty lines between requests (RFC 9112 §2.2). Returns a function that stops the checks.
 */
export function watchIdle(connections: Connections, timeoutMs: number): () => void {
  const timer = setInterval(() => {
    const now = performance.now();
    for (const { socket, pending, answeredAt } of connections.all())
      if (pending.size === 0 && answeredAt !== undefined && now - answeredAt >= timeoutMs) socket.destroy();
  }, checkIntervalMs).unref();
  return () => clearInterval(timer);
}
