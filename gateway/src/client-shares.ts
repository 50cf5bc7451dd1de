import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '@attribution/contracts';
import { type ConnectionCap, networkOf } from '@attribution/http';
import { trustedAddress, trustedPeer } from './client-ip.ts';
import type { ClientRefusal } from './metrics.ts';

export interface ClientShares {
  readonly connectionCap: ConnectionCap;
  /** Throws `unavailable` if the client has too many requests in progress. */
  enter(req: IncomingMessage, res: ServerResponse, ip: string): void;
}

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
        throw new Problem('unavailable', 'Too many requests of yours are in progress. Try again.', {
          'retry-after': '1',
        });
      }
      inProgress.set(client, count + 1);
      res.once('close', () => {
        const left = (inProgress.get(client) ?? 1) - 1;
        if (left > 0) inProgress.set(client, left);
        else inProgress.delete(client);
      });
    },
  };
}
