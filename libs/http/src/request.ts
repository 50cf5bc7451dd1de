import type { IncomingMessage } from 'node:http';
import { Problem } from '@attribution/contracts';
import { isTraceparent, type TraceContext } from '@attribution/tracing';
import { newRequestId, randomHex } from './random.ts';

/** What a handler is given about a request besides its input. */
export interface RequestContext extends TraceContext {
  /** The `X-Request-Id`, which is also in the response and in every log line. */
  readonly id: string;
  /** The client's address, as the gateway determined it. */
  readonly ip: string;
  readonly userAgent: string | null;
}

const requestIdShape = /^[A-Za-z0-9._-]{8,128}$/;

const single = (header: string | string[] | undefined) => (Array.isArray(header) ? header[0] : header);

/** The caller's request id if it is a plain one, else a new one. */
export function requestIdOf(req: IncomingMessage): string {
  const given = single(req.headers['x-request-id']);
  return given && requestIdShape.test(given) ? given : newRequestId();
}

/** The caller's W3C trace context, if it is valid. */
export function givenTraceparent(req: IncomingMessage): string | undefined {
  const given = single(req.headers.traceparent);
  return given !== undefined && isTraceparent(given) ? given : undefined;
}

/** The context of a new trace without a span. */
export function newTraceparent(sampled: boolean): string {
  return `00-${randomHex(16)}-${randomHex(8)}-${sampled ? '01' : '00'}`;
}

/** `sampled`: the flag of a trace that begins here. */
export function requestContext(req: IncomingMessage, sampled = true): RequestContext {
  let traceparent: string | undefined;
  return {
    id: requestIdOf(req),
    ip: single(req.headers['x-forwarded-for'])?.split(',')[0]?.trim() || (req.socket.remoteAddress ?? ''),
    userAgent: req.headers['user-agent']?.slice(0, 300) ?? null,
    // Made on first use, because random bytes cost more than all the rest here, and reads do not need them.
    get traceparent() {
      return (traceparent ??= givenTraceparent(req) ?? newTraceparent(sampled));
    },
  };
}

/** Query parameters by name. Throws `validation-error` for a repeated parameter (spec §2.2) and for text that cannot be stored. */
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
