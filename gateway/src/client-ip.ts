import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import proxyaddr from 'proxy-addr';

/** Finds a client's address: the right-most address of `X-Forwarded-For` and the socket that is not a trusted proxy (decision 37). */
export function clientIpFinder(trustedProxies: readonly string[]): (req: IncomingMessage) => string {
  const isTrusted = proxyaddr.compile([...trustedProxies]);
  const cache = new Map<string, string>();
  return (req) => {
    const socket = req.socket.remoteAddress ?? '';
    const forwarded = req.headers['x-forwarded-for'];
    const key = forwarded === undefined ? socket : `${socket} ${String(forwarded)}`;
    return cached(cache, key, () => {
      const found = forwarded === undefined ? socket : proxyaddr(req, isTrusted);
      return normalize(ipaddr.isValid(found) ? found : socket);
    });
  };
}

/** Whether an address is that of a trusted proxy. */
export function trustedAddress(trustedProxies: readonly string[]): (address: string) => boolean {
  const isTrusted = proxyaddr.compile([...trustedProxies]);
  const cache = new Map<string, boolean>();
  return (address) => cached(cache, address, () => ipaddr.isValid(address) && isTrusted(address, 0));
}

/** Whether the peer at the other end of the socket is a trusted proxy. */
export function trustedPeer(trustedProxies: readonly string[]): (req: IncomingMessage) => boolean {
  const isTrusted = trustedAddress(trustedProxies);
  return (req) => isTrusted(req.socket.remoteAddress ?? '');
}

/** Clients choose how many keys there are and how long each is, so the cache is limited in both. */
const limits = { entries: 10_000, keyLength: 100 };

/** The same clients return, and parsing an address is the most expensive part of finding it. */
function cached<T>(cache: Map<string, T>, key: string, find: () => T): T {
  const hit = cache.get(key);
  if (hit !== undefined) return hit;
  const found = find();
  if (cache.size >= limits.entries) cache.clear();
  if (key.length <= limits.keyLength) cache.set(key, found);
  return found;
}

/** An IPv4 address mapped into IPv6 is written as IPv4. */
function normalize(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}
