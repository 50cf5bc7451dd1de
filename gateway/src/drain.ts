import type { IncomingMessage } from 'node:http';

/**
 * One body is read each time, at most 64 KiB of it: together 13 MB a second. What is read lies in buffers outside the heap, and
 * V8 collects all garbage for every 10 MB of them: at 50 MB a second the marking alone took 40 % of a processor.
 */
const everyMs = 5;
/** The connections of more are closed: a client that has so many refused at once does not need them. */
const maxBodies = 64;

/** Discards the bodies of refused requests. */
export interface Drain {
  /**
   * The rest of the body is discarded a little at a time, as the connection's next request follows it. False if the connection
   * has to be closed instead.
   */
  add(req: IncomingMessage): boolean;
}

/**
 * Node itself would read the body of a refused request as fast as it comes. When a client has hundreds of them, nobody else
 * gets a turn of the event loop in time.
 */
export function createDrain(): Drain {
  const left = new Set<IncomingMessage>();
  let timer: NodeJS.Timeout | undefined;

  function readSome(): void {
    const [req] = left;
    if (req) {
      left.delete(req);
      left.add(req); // To the end of the line.
      while (req.read() !== null);
    } else {
      clearInterval(timer);
      timer = undefined;
    }
  }

  return {
    add(req) {
      if (req.complete || req.destroyed) return true;
      req.on('readable', () => {}); // Node discards a body that nobody listens to.
      if (left.size >= maxBodies) return false;
      left.add(req);
      req.once('close', () => left.delete(req));
      timer ??= setInterval(readSome, everyMs).unref();
      return true;
    },
  };
}
