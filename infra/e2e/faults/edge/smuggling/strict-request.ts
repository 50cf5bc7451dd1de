/** A request that complies strictly with RFC 9112. */
export interface StrictRequest {
  readonly method: string;
  readonly target: string;
  /** By lower-case name; a repeated name is an error. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Bytes that lenient parsers could interpret in different ways. */
class Ambiguous extends Error {}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const requestLine = new RegExp(`^(${token}) ([\\x21-\\x7e]+) HTTP/1\\.1$`);
const field = new RegExp(
  `^(${token}):[ \\t]*((?:[\\x21-\\x7e\\x80-\\xff](?:[\\t\\x20-\\x7e\\x80-\\xff]*[\\x21-\\x7e\\x80-\\xff])?)?)[ \\t]*$`,
);

/** Parses the first request in these bytes (latin1), and returns it with the rest; undefined while it is incomplete. */
export function readRequest(bytes: string): { request: StrictRequest; rest: string } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) {
    // Even an incomplete head must not contain other line endings.
    if (/(^|[^\r])\n|\r[^\n]|\0/.test(bytes)) throw new Ambiguous('a bare CR, LF or NUL');
    return undefined;
  }
  const [first = '', ...lines] = bytes.slice(0, end).split('\r\n');
  const [, method, target] = requestLine.exec(first) ?? [];
  if (method === undefined || target === undefined) throw new Ambiguous(`the request line ${JSON.stringify(first)}`);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name, value] = field.exec(line) ?? [];
    if (name === undefined || value === undefined)
      throw new Ambiguous(`the header ${JSON.stringify(line.slice(0, 80))}`);
    const key = name.toLowerCase();
    if (key in headers) throw new Ambiguous(`${key} twice`);
    headers[key] = value;
  }
  const framed = bodyOf(headers, bytes.slice(end + 4));
  return framed && { request: { method, target, headers, body: framed.body }, rest: framed.rest };
}

interface Framed {
  readonly body: string;
  readonly rest: string;
}

function bodyOf(headers: Readonly<Record<string, string>>, bytes: string): Framed | undefined {
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  if (coding !== undefined) {
    if (length !== undefined) throw new Ambiguous('a length and chunks');
    if (coding !== 'chunked') throw new Ambiguous(`the coding ${JSON.stringify(coding)}`);
    return chunksIn(bytes);
  }
  if (length === undefined) return { body: '', rest: bytes };
  if (!/^\d{1,15}$/.test(length)) throw new Ambiguous(`the length ${JSON.stringify(length)}`);
  const size = Number(length);
  return bytes.length < size ? undefined : { body: bytes.slice(0, size), rest: bytes.slice(size) };
}

function chunksIn(bytes: string): Framed | undefined {
  let body = '';
  let at = 0;
  for (;;) {
    const end = bytes.indexOf('\r\n', at);
    if (end === -1) return undefined;
    const line = bytes.slice(at, end);
    if (!/^[0-9a-fA-F]{1,8}$/.test(line)) throw new Ambiguous(`the chunk size ${JSON.stringify(line.slice(0, 40))}`);
    const size = Number.parseInt(line, 16);
    const data = end + 2;
    if (bytes.length < data + size + 2) return undefined;
    if (bytes.slice(data + size, data + size + 2) !== '\r\n') {
      throw new Ambiguous(size === 0 ? 'a trailer' : 'data beyond the chunk');
    }
    if (size === 0) return { body, rest: bytes.slice(data + 2) };
    body += bytes.slice(data, data + size);
    at = data + size + 2;
  }
}
