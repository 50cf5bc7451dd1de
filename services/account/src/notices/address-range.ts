import ipaddr from 'ipaddr.js';

/** Bits that the addresses of one place usually have in common: a network of IPv4, a site of IPv6. */
const bits = { ipv4: 24, ipv6: 48 } as const;

/** The range that an address is in: `203.0.113.0/24`, `2001:db8:1::/48`. What is no address is a range of its own. */
export function addressRange(ip: string): string {
  const [unzoned = ''] = ip.split('%');
  if (!ipaddr.isValid(unzoned)) return ip;
  const address = ipaddr.process(unzoned);
  const kind = address.kind();
  const family = kind === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${family.networkAddressFromCIDR(`${address}/${bits[kind]}`)}/${bits[kind]}`;
}
