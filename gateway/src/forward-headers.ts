import type { IncomingHttpHeaders } from 'node:http';

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

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
const reserved = /^x-(?:internal|forwarded|real)-/;
/** Never dropped at a client's word: they frame the body or name the caller. */
const kept = new Set(['content-length', 'transfer-encoding', 'host', 'authorization', 'content-type']);

/** The headers that go on to a service: the caller's own less hop-by-hop and reserved ones, and the platform's. */
export function forwardHeaders(
  headers: IncomingHttpHeaders,
  set: Readonly<Record<string, string>>,
): IncomingHttpHeaders {
  const listed = connectionOptions(headers.connection);
  const onward: IncomingHttpHeaders = {};
  for (const name in headers) {
    if (dropped.has(name) || (listed.includes(name) && !kept.has(name))) continue;
    if (name.startsWith('x-') && reserved.test(name)) continue;
    onward[name] = name === 'transfer-encoding' ? 'chunked' : headers[name]; // Whatever its letters.
  }
  for (const name in set) onward[name] = set[name];
  return onward;
}

/** The headers that `Connection` says are about the connection alone. */
export function connectionOptions(connection: string | string[] | undefined): readonly string[] {
  if (connection === undefined || connection === 'keep-alive') return none;
  return String(connection)
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
}

const none: readonly string[] = [];
