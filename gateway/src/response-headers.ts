import type { ServerResponse } from 'node:http';
import { connectionOptions, type Headers } from './forward-headers.ts';

/** Names and values in turn. One list for `writeHead` costs a third of one `setHeader` call for each header (ADR 0008). */
export type HeaderList = readonly string[];

/** Headers about the service's own connection, or about its software: they do not reach the client. */
const dropped = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-powered-by',
  'server',
]);

/** The gateway alone decides about CORS, and `x-internal-*` is between services. */
const isReserved = (name: string) => name.startsWith('access-control-') || name.startsWith('x-internal-');

const isLimit = (name: string) => name.startsWith('ratelimit-');

/** The headers of a response that is passed back: the gateway's own, and those of the service that may go on. */
export function responseHeaders(status: number, headers: Headers, gatewayHeaders: HeaderList): (string | string[])[] {
  const listed = connectionOptions(headers.connection);
  // A service refuses by a limit of its own, of which the gateway's headers say nothing.
  const limited = status === 429 && headers['ratelimit-limit'] !== undefined;
  const own = limited ? withoutLimits(gatewayHeaders) : gatewayHeaders;
  const all: (string | string[])[] = own.slice();
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || dropped.has(name) || isReserved(name) || listed.includes(name)) continue;
    if (!hasHeader(own, name)) all.push(name, value);
  }
  return all;
}

const withoutLimits = (list: HeaderList): HeaderList => list.filter((_, at) => !isLimit(list[at - (at % 2)] ?? ''));

function hasHeader(list: HeaderList, name: string): boolean {
  for (let i = 0; i < list.length; i += 2) if (list[i] === name) return true;
  return false;
}

/** Sets headers on a response that the gateway itself gives. */
export function setHeaders(res: ServerResponse, list: HeaderList): void {
  for (let i = 0; i < list.length; i += 2) res.setHeader(list[i] ?? '', list[i + 1] ?? '');
}
