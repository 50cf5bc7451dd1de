import type { IncomingMessage } from 'node:http';

/** RFC 3986 §3.2.2 and §3.2.3: a name or an address, perhaps empty, and perhaps a port. */
const authority = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]*|\[[0-9A-Fa-f:.]+\])(?::\d*)?$/;

/** What Node's parser lets through and RFC 9112 (§2.3, §3.2, §6.1) does not. */
export function malformationOf({ httpVersion, headers, rawHeaders }: IncomingMessage): string | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return `HTTP/${httpVersion}: is not spoken here; HTTP/1.1 is.`;
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  if (hosts > 1) return 'Host: the header is given more than once.';
  if (hosts === 0 && httpVersion === '1.1') return 'Host: the header is missing.';
  if (!authority.test(headers.host ?? '')) return 'Host: is no name or address with a port.';
  const { 'transfer-encoding': coding } = headers;
  if (coding === undefined) return undefined;
  // Another reader on the way could take it for no coding at all, and what is in the body for a request.
  if (httpVersion === '1.0') return 'Transfer-Encoding: is not known to HTTP/1.0.';
  return coding.toLowerCase() === 'chunked' ? undefined : 'Transfer-Encoding: chunked alone is known here.';
}
