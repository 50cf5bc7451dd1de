import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import proxyaddr from 'proxy-addr';

/** Finds a client's address: the right-most of `X-Forwarded-For` and the socket that is no trusted proxy (decision 37). */
export function clientIpFinder(trustedProxies: readonly string[]): (req: IncomingMessage) => string {
  const isTrusted = proxyaddr.compile([...trustedProxies]);
  return (req) => {
    const socket = req.socket.remoteAddress ?? '';
    const found = req.headers['x-forwarded-for'] === undefined ? socket : proxyaddr(req, isTrusted);
    return plain(ipaddr.isValid(found) ? found : socket);
  };
}

/** Whether the peer at the other end of the socket is a trusted proxy. */
export function trustedPeer(trustedProxies: readonly string[]): (req: IncomingMessage) => boolean {
  const isTrusted = proxyaddr.compile([...trustedProxies]);
  return (req) => isTrusted(req.socket.remoteAddress ?? '', 0);
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
