import type { IncomingMessage } from 'node:http';

/**
 * One body is read each time, at most 64 KiB of it: together 13 MB a second. What is read lies in buffers outside the heap, and
 * V8 collects all garbage for every 10 MB of them: at 50 MB a second the marking alone took 40 % of a processor.
 */
const everyMs = 5;
/** The connections of more are closed: a client that has so many refused at once does not need them. */
const maxBodies = { perClient: 64, total: 1_024 } as const;

/** Discards the bodies of refused requests. */
export interface Drain {
  /**
   * The rest of the body is discarded a little at a time, as the connection's next request follows it. False if the connection
   * has to be closed instead.
   */
  add(req: IncomingMessage, client: string): boolean;
}

/**
 * Node itself would read the body of a refused request as fast as it comes. When a client has hundreds of them, nobody else
 * gets a turn of the event loop in time. Clients take turns, and so do the bodies of each; those that stall have none.
 */
export function createDrain(): Drain {
  const counts = new Map<string, number>();
  let total = 0;
  /** Bodies of which something has arrived, by client. */
  const ready = new Map<string, Set<IncomingMessage>>();
  let timer: NodeJS.Timeout | undefined;

  function readSome(): void {
    const next = takeNext();
    if (next) {
      while (next.read() !== null);
    } else {
      clearInterval(timer);
      timer = undefined;
    }
  }

  function takeNext(): IncomingMessage | undefined {
    for (const [client, bodies] of ready) {
      const [req] = bodies;
      ready.delete(client);
      if (!req) continue;
      bodies.delete(req);
      if (bodies.size > 0) ready.set(client, bodies); // To the end of the line.
      return req;
    }
    return undefined;
  }

  function enter(req: IncomingMessage, client: string): void {
    const bodies = ready.get(client);
    if (bodies) bodies.add(req);
    else ready.set(client, new Set([req]));
    timer ??= setInterval(readSome, everyMs).unref();
  }

  function leave(req: IncomingMessage, client: string): void {
    ready.get(client)?.delete(req);
    total--;
    const left = (counts.get(client) ?? 1) - 1;
    if (left > 0) counts.set(client, left);
    else counts.delete(client);
  }

  return {
    add(req, client) {
      if (req.complete || req.destroyed) return true;
      const count = counts.get(client) ?? 0;
      if (count >= maxBodies.perClient || total >= maxBodies.total) {
        req.on('readable', () => {}); // Node discards a body that nobody listens to.
        return false;
      }
      counts.set(client, count + 1);
      total++;
      req.on('readable', () => enter(req, client));
      req.once('close', () => leave(req, client));
      return true;
    },
  };
}
