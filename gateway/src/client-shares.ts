import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Endpoint, Problem } from '@attribution/contracts';
import { type ConnectionCap, networkOf, type RequestCaller } from '@attribution/http';
import { createTurns } from '@attribution/runtime';
import { trustedAddress, trustedPeer } from './client-ip.ts';
import type { ClientRefusal } from './metrics.ts';

export interface ClientShares {
  readonly connectionCap: ConnectionCap;
  /** Throws `unavailable` if the client has too many requests in progress. */
  enter(req: IncomingMessage, res: ServerResponse, ip: string): void;
  /**
   * Waits until a body of the client that is still arriving may be forwarded. Resolves with a function that ends its turn.
   * Throws `unavailable` if others of the client do not end in time.
   */
  waitToSend(
    endpoint: Endpoint,
    caller: RequestCaller | undefined,
    res: ServerResponse,
    ip: string,
  ): Promise<() => void>;
}

const waits = { total: Number.POSITIVE_INFINITY, maxWaiting: 256, maxWaitMs: 10_000 };
/** What is forwarded at once, of a credential and of an account; what waits is not read. */
const sending = {
  body: { ...waits, perCaller: 8, perLane: 16 },
  /** A service reads one of a credential at a time, and megabytes of each of the others would lie between. */
  upload: { ...waits, perCaller: 2, perLane: 4 },
};

/**
 * Limits the connections of each client, an address or an IPv6 /64. Behind a proxy all clients share its connections, so the
 * requests in progress are counted instead, by the addresses that the proxy names. Requests of the proxy's own are free.
 */
export function createClientShares(
  trustedProxies: readonly string[],
  limit: number,
  onRefused: (reason: ClientRefusal) => void,
): ClientShares {
  const isTrusted = trustedAddress(trustedProxies);
  const throughProxy = trustedPeer(trustedProxies);
  const inProgress = new Map<string, number>();
  const tooMany = (what: string) =>
    new Problem('unavailable', `Too many ${what} of yours are in progress. Try again.`, { 'retry-after': '1' });
  const busy = () => {
    onRefused('bodies');
    return tooMany('large requests');
  };
  const turns = { body: createTurns({ ...sending.body, busy }), upload: createTurns({ ...sending.upload, busy }) };

  return {
    connectionCap: {
      limit,
      clientOf: (address) => (isTrusted(address) ? undefined : networkOf(address)),
      onRefused: () => onRefused('connections'),
    },
    enter(req, res, ip) {
      if (isTrusted(ip) || !throughProxy(req)) return;
      const client = networkOf(ip);
      const count = inProgress.get(client) ?? 0;
      if (count >= limit) {
        onRefused('requests');
        throw tooMany('requests');
      }
      inProgress.set(client, count + 1);
      res.once('close', () => {
        const left = (inProgress.get(client) ?? 1) - 1;
        if (left > 0) inProgress.set(client, left);
        else inProgress.delete(client);
      });
    },
    async waitToSend({ upload }, caller, res, ip) {
      const pool = turns[upload ? 'upload' : 'body'];
      const client = networkOf(ip);
      const taker = caller ? { lane: caller.accountId, caller: caller.id } : { lane: client, caller: client };
      const free = pool.tryTake(taker);
      if (free) return free;
      const leaving = new AbortController();
      const leave = () => leaving.abort(tooMany('large requests'));
      res.once('close', leave);
      try {
        return await pool.take(taker, leaving.signal);
      } finally {
        res.off('close', leave);
      }
    },
  };
}
