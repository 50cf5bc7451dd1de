import type { IncomingHttpHeaders } from 'node:http';

/** RFC 9110 §7.6.1, and what a peer could say about the way here. `transfer-encoding` frames the body and stays. */
const dropped = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'forwarded',
]);
/** What names caller or way: the platform's own to set. */
const reservedPrefixes = ['x-internal-', 'x-forwarded-', 'x-real-'];
/** Never dropped at a client's word: they frame the body or name the caller. */
const kept = new Set(['content-length', 'transfer-encoding', 'host', 'authorization', 'content-type']);

/** The headers that go on to a service: the caller's own less hop-by-hop and reserved ones, and the platform's. */
export function forwardHeaders(
  headers: IncomingHttpHeaders,
  set: Readonly<Record<string, string>>,
): IncomingHttpHeaders {
  const listed = connectionOptions(headers);
  const onward: IncomingHttpHeaders = {};
  for (const name in headers) {
    if (dropped.has(name) || (listed.includes(name) && !kept.has(name))) continue;
    if (reservedPrefixes.some((prefix) => name.startsWith(prefix))) continue;
    onward[name] = headers[name];
  }
  return Object.assign(onward, set);
}

/** The headers that `Connection` says are about the connection alone. */
export function connectionOptions({ connection = '' }: IncomingHttpHeaders): string[] {
  return connection
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
}
