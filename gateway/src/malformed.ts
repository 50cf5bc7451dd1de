import type { IncomingMessage } from 'node:http';

/** RFC 3986 §3.2.2 and §3.2.3: a name or an address, which may be empty, and an optional port. */
const authority = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]*|\[[0-9A-Fa-f:.]+\])(?::\d*)?$/;

/** Says what is wrong with a request that Node's parser accepts and RFC 9112 (§2.3, §3.2, §6.1) forbids. */
export function malformationOf({ httpVersion, headers, rawHeaders }: IncomingMessage): string | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return `HTTP/${httpVersion}: is not supported; use HTTP/1.1.`;
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  if (hosts > 1) return 'Host: the header is given more than once.';
  if (hosts === 0 && httpVersion === '1.1') return 'Host: the header is missing.';
  if (!authority.test(headers.host ?? '')) return 'Host: is not a name or an address with an optional port.';
  const { 'transfer-encoding': coding } = headers;
  if (coding === undefined) return undefined;
  // A proxy that ignores the coding would read the body as the next request (request smuggling).
  if (httpVersion === '1.0') return 'Transfer-Encoding: does not exist in HTTP/1.0.';
  return coding.toLowerCase() === 'chunked' ? undefined : 'Transfer-Encoding: only chunked is supported.';
}
