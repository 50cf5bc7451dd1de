import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface IdleWatch {
  /** Notes a request and its answer. */
  note(res: ServerResponse): void;
  stop(): void;
}

/** Milliseconds between two looks. */
const interval = 1_000;

/**
 * Ends connections that bring no request for `limit` milliseconds after their last answer. Node's own patience begins
 * anew at each byte, and empty lines between requests are bytes without being a request (RFC 9112 §2.2).
 */
export function watchIdle(limit: number): IdleWatch {
  const idleSince = new Map<Socket, number>();
  const latest = new WeakMap<Socket, ServerResponse>();
  const timer = setInterval(() => {
    const now = performance.now();
    for (const [socket, since] of idleSince) {
      if (now - since >= limit) socket.destroy();
      if (socket.destroyed) idleSince.delete(socket);
    }
  }, interval).unref();
  return {
    note(res) {
      const { socket } = res.req;
      idleSince.delete(socket);
      latest.set(socket, res);
      res.once('close', () => {
        // Answers go out in order: behind the last of them nothing is in hand.
        if (latest.get(socket) === res && !socket.destroyed) idleSince.set(socket, performance.now());
      });
    },
    stop: () => clearInterval(timer),
  };
}
