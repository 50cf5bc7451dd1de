import type { IncomingMessage } from 'node:http';
import { Problem } from '@attribution/contracts';
import { isTraceparent, type TraceContext } from '@attribution/tracing';
import { newRequestId, randomHex } from './random.ts';

/** What a handler may know of a request besides its input. */
export interface RequestContext extends TraceContext {
  /** `X-Request-Id`, also in the response and in every log line. */
  readonly id: string;
  /** The client's address, as the gateway found it. */
  readonly ip: string;
  readonly userAgent: string | null;
}

const requestIdShape = /^[A-Za-z0-9._-]{8,128}$/;

const single = (header: string | string[] | undefined) => (Array.isArray(header) ? header[0] : header);

/** A caller's request id where it is a plain one, else a new one. */
export function requestIdOf(req: IncomingMessage): string {
  const given = single(req.headers['x-request-id']);
  return given && requestIdShape.test(given) ? given : newRequestId();
}

/** The caller's W3C trace context, where it is one. */
export function givenTraceparent(req: IncomingMessage): string | undefined {
  const given = single(req.headers.traceparent);
  return given !== undefined && isTraceparent(given) ? given : undefined;
}

/** A trace of which nobody has a span. */
export function newTraceparent(sampled: boolean): string {
  return `00-${randomHex(16)}-${randomHex(8)}-${sampled ? '01' : '00'}`;
}

/** `sampled`: what a trace that begins here says of itself. */
export function requestContext(req: IncomingMessage, sampled = true): RequestContext {
  let traceparent: string | undefined;
  return {
    id: requestIdOf(req),
    ip: single(req.headers['x-forwarded-for'])?.split(',')[0]?.trim() || (req.socket.remoteAddress ?? ''),
    userAgent: req.headers['user-agent']?.slice(0, 300) ?? null,
    // Made when it is asked for: randomness costs more than all else here, and reads do not need it.
    get traceparent() {
      return (traceparent ??= givenTraceparent(req) ?? newTraceparent(sampled));
    },
  };
}

/** Query parameters by name. Throws `validation-error` for a repeated one (spec §2.2) and for text nobody can store. */
export function queryOf(url: string): Record<string, string> {
  const at = url.indexOf('?');
  if (at === -1) return {};
  const query: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of new URLSearchParams(url.slice(at + 1))) {
    const label = name.slice(0, 60);
    if (name in query)
      throw new Problem('validation-error', `query.${label}: is given more than once; join values with commas.`);
    if (value.includes('\0') || value.includes('\uFFFD'))
      throw new Problem('validation-error', `query.${label}: contains characters that are not text.`);
    query[name] = value;
  }
  return query;
}
