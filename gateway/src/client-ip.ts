import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import proxyaddr from 'proxy-addr';

/** Finds a client's address: the right-most of `X-Forwarded-For` and the socket that is no trusted proxy (decision 37). */
export function clientIpFinder(trustedProxies: readonly string[]): (req: IncomingMessage) => string {
  const isTrusted = proxyaddr.compile([...trustedProxies]);
  const known = new Map<string, string>();
  return (req) => {
    const socket = req.socket.remoteAddress ?? '';
    const forwarded = req.headers['x-forwarded-for'];
    const key = forwarded === undefined ? socket : `${socket} ${String(forwarded)}`;
    return remembered(known, key, () => {
      const found = forwarded === undefined ? socket : proxyaddr(req, isTrusted);
      return plain(ipaddr.isValid(found) ? found : socket);
    });
  };
}

/** Whether the peer at the other end of the socket is a trusted proxy. */
export function trustedPeer(trustedProxies: readonly string[]): (req: IncomingMessage) => boolean {
  const isTrusted = proxyaddr.compile([...trustedProxies]);
  const known = new Map<string, boolean>();
  return (req) => {
    const socket = req.socket.remoteAddress ?? '';
    return remembered(known, socket, () => isTrusted(socket, 0));
  };
}

/** Findings that are kept, and characters of what each was found from: clients choose how many and how long. */
const limits = { findings: 10_000, length: 100 };

/** Clients come again and again, and to parse an address costs more than all else about it. */
function remembered<T>(known: Map<string, T>, key: string, find: () => T): T {
  const before = known.get(key);
  if (before !== undefined) return before;
  const found = find();
  if (known.size >= limits.findings) known.clear();
  if (key.length <= limits.length) known.set(key, found);
  return found;
}

/** IPv4 inside IPv6 is IPv4. */
function plain(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

/** What is counted as one client: an IPv4 address, or an IPv6 /64, which one customer commonly has. */
export function rateLimitKey(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  return `${(address as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
