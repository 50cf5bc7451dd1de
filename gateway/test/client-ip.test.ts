import type { IncomingMessage } from 'node:http';
import { expect, test } from '@jest/globals';
import { clientIpFinder, trustedPeer } from '../src/client-ip.ts';

/** The part of a request from which its client's address is found. */
const from = (remoteAddress: string | undefined, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: { ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }) },
  }) as unknown as IncomingMessage;

const find = clientIpFinder(['loopback', '10.0.0.0/8', 'fd00::/8']);

test.each([
  ['the socket, where nothing is forwarded', '203.0.113.1', undefined, '203.0.113.1'],
  ['the socket, whatever an untrusted peer forwards', '203.0.113.1', '198.51.100.1', '203.0.113.1'],
  ['the forwarded address, from a trusted peer', '127.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['the right-most untrusted, past trusted ones', '10.0.0.1', '198.51.100.9, 198.51.100.1, 10.2.2.2', '198.51.100.1'],
  ['the right-most untrusted, even with trusted ones left of it', '10.0.0.1', '10.3.3.3, 198.51.100.1', '198.51.100.1'],
  ['the left-most, where all are trusted', '127.0.0.1', '10.3.3.3, 10.2.2.2', '10.3.3.3'],
  ['the forwarded IPv6 address', '::1', '2001:DB8::0001', '2001:db8::1'],
  ['the IPv4 address in an IPv6 socket address', '::ffff:203.0.113.1', undefined, '203.0.113.1'],
  ['the forwarded address, from a trusted peer written as IPv6', '::ffff:127.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['the IPv4 address in a forwarded IPv6 one', '127.0.0.1', '::ffff:c633:6401', '198.51.100.1'],
  ['the socket, where the right-most entry is garbage', '127.0.0.1', '198.51.100.1, garbage', '127.0.0.1'],
  ['the socket, where an entry has a port', '127.0.0.1', '198.51.100.1:80', '127.0.0.1'],
  ['the socket, where the header is empty', '127.0.0.1', '', '127.0.0.1'],
  ['the entry, however it is spaced', '127.0.0.1', ' ,  198.51.100.1  ', '198.51.100.1'],
  ['nothing, where the socket is gone', undefined, undefined, ''],
  ['nothing, where the socket is gone, whatever was forwarded', undefined, '198.51.100.1', ''],
])('the client is %s', (_what, socket, forwarded, expected) => {
  expect(find(from(socket, forwarded))).toBe(expected);
});

test('a list of no proxies trusts none', () => {
  expect(clientIpFinder([])(from('127.0.0.1', '198.51.100.1'))).toBe('127.0.0.1');
  expect(trustedPeer([])(from('127.0.0.1'))).toBe(false);
});

test('a list with an entry that is not an address is refused at the start', () => {
  expect(() => clientIpFinder(['proxy.internal'])).toThrow('proxy.internal');
});

test('whether the peer is trusted depends on its socket only', () => {
  const trusted = trustedPeer(['10.0.0.0/8']);
  expect(trusted(from('10.9.9.9', '198.51.100.1'))).toBe(true);
  expect(trusted(from('::ffff:10.9.9.9'))).toBe(true);
  expect(trusted(from('198.51.100.1', '10.9.9.9'))).toBe(false);
  expect(trusted(from(undefined))).toBe(false);
});
