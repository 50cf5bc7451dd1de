import type { IncomingMessage } from 'node:http';

/** So many bodies are read each time: together about 50 MB a second, and a single one with 13. */
const bodiesAtOnce = 4;
const everyMs = 5;
/** Longer ones would be in the way for seconds at this pace, and Node is done with the few of them in a moment. */
const maxBytes = 2 * 1024 * 1024;

/** Discards the bodies of refused requests. */
export interface Drain {
  /** The rest of the body, unless it is long, is discarded a little at a time, as the connection's next request follows it. */
  add(req: IncomingMessage): void;
}

/**
 * Node itself would read the body of a refused request as fast as it comes. When a client has hundreds of them, nobody else
 * gets a turn of the event loop in time.
 */
export function createDrain(): Drain {
  const left = new Set<IncomingMessage>();
  let timer: NodeJS.Timeout | undefined;

  function readSome(): void {
    let count = bodiesAtOnce;
    for (const req of left) {
      if (count-- === 0) return;
      left.delete(req); // To the end of the line.
      while (req.read() !== null);
      if (!req.destroyed && !req.readableEnded) left.add(req);
    }
    if (left.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    add(req) {
      if (req.complete || req.destroyed || Number(req.headers['content-length'] ?? maxBytes + 1) > maxBytes) return;
      req.read(0); // Tells Node that somebody reads it.
      left.add(req);
      timer ??= setInterval(readSome, everyMs).unref();
    },
  };
}
