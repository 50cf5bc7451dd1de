import ipaddr from 'ipaddr.js';

/** What counts as one client: an IPv4 address, or an IPv6 /64, the prefix that a provider commonly gives to one customer. */
export function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  return `${(address as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
