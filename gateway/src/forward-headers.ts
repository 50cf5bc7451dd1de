import type { IncomingHttpHeaders } from 'node:http';

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Hop-by-hop headers (RFC 9110 §7.6.1), and claims of a peer about its route. `transfer-encoding` frames the body and stays. */
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
/** Headers that name the caller or its route: only the platform sets them. */
const reserved = /^x-(?:internal|forwarded|real)-/;
/** Headers that `Connection` cannot remove: they frame the body or name the caller. */
const kept = new Set(['content-length', 'transfer-encoding', 'host', 'authorization', 'content-type']);

/**
 * The headers that go on to a service: the caller's, without hop-by-hop and reserved ones and those that `strips` names, and
 * those of `set`.
 */
export function forwardHeaders(
  headers: IncomingHttpHeaders,
  set: Readonly<Record<string, string>>,
  strips?: (name: string) => boolean,
): IncomingHttpHeaders {
  const listed = connectionOptions(headers.connection);
  const onward: IncomingHttpHeaders = {};
  for (const name in headers) {
    if (dropped.has(name) || (listed.includes(name) && !kept.has(name))) continue;
    if ((name.startsWith('x-') && reserved.test(name)) || strips?.(name)) continue;
    onward[name] = name === 'transfer-encoding' ? 'chunked' : headers[name]; // In lower case, however it was written.
  }
  for (const name in set) onward[name] = set[name];
  return onward;
}

/** The names of the headers that `Connection` declares to be about this connection only. */
export function connectionOptions(connection: string | string[] | undefined): readonly string[] {
  if (connection === undefined || connection === 'keep-alive') return none;
  return String(connection)
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
}

const none: readonly string[] = [];
