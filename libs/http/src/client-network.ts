import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** What counts as one client: an IPv4 address, or an IPv6 /64, the prefix that a provider commonly gives to one customer. */
export function networkOf(ip: string): string {
  if (isIPv4(ip) || !ipaddr.isValid(ip)) return ip; // Most are IPv4, and parsing takes microseconds.
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  return `${(address as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
