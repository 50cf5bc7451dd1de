import type { IncomingMessage } from 'node:http';
import { Problem } from '@attribution/contracts';
import { isTraceparent, type TraceContext } from '@attribution/tracing';
import { newRequestId, randomHex } from './random.ts';

/** What a handler is given about a request besides its input. */
export interface RequestContext extends TraceContext {
  /** The `X-Request-Id`, which is also in the response and in every log line. The client may have chosen it. */
  readonly id: string;
  /** The id that the platform made for the request, a UUIDv7. */
  readonly platformId: string;
  /** The client's address, as the gateway determined it. */
  readonly ip: string;
  readonly userAgent: string | null;
}

const requestIdShape = /^[A-Za-z0-9._-]{8,128}$/;

const single = (header: string | string[] | undefined) => (Array.isArray(header) ? header[0] : header);

/** Carries the platform's own id of a request from the gateway to a service. The gateway drops such a header of a client. */
export const platformIdHeader = 'x-internal-request-id';
const platformIdShape = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The caller's request id if it is a plain one, else the platform's own. */
export function requestIdOf(req: IncomingMessage, platformId: string): string {
  const given = single(req.headers['x-request-id']);
  return given && requestIdShape.test(given) ? given : platformId;
}

/** The id that the gateway gave the request; a new one for a request that came another way. */
function platformIdOf(req: IncomingMessage): string {
  const given = single(req.headers[platformIdHeader]);
  return given && platformIdShape.test(given) ? given : newRequestId();
}

/** The client's name for itself, or the beginning of it. */
export const userAgentOf = (req: IncomingMessage): string | null => req.headers['user-agent']?.slice(0, 300) ?? null;

/** The caller's W3C trace context, if it is valid. */
export function givenTraceparent(req: IncomingMessage): string | undefined {
  const given = single(req.headers.traceparent);
  return given !== undefined && isTraceparent(given) ? given : undefined;
}

/** The context of a new trace without a span. */
export function newTraceparent(sampled: boolean): string {
  return `00-${randomHex(16)}-${randomHex(8)}-${sampled ? '01' : '00'}`;
}

/**
 * A class, because V8 collects an object literal with a getter, and all that the getter refers to, with the old generation
 * only: each young collection would copy the requests of the last seconds, for 20 to 50 ms.
 */
class ReceivedRequest implements RequestContext {
  readonly id: string;
  readonly platformId: string;
  readonly ip: string;
  readonly userAgent: string | null;
  readonly #sampled: boolean;
  #traceparent: string | undefined;

  constructor(req: IncomingMessage, sampled: boolean) {
    this.platformId = platformIdOf(req);
    this.id = requestIdOf(req, this.platformId);
    this.ip = single(req.headers['x-forwarded-for'])?.split(',')[0]?.trim() || (req.socket.remoteAddress ?? '');
    this.userAgent = userAgentOf(req);
    this.#sampled = sampled;
    this.#traceparent = givenTraceparent(req);
  }

  /** Made on first use, because random bytes cost more than all the rest here, and reads do not need them. */
  get traceparent(): string {
    return (this.#traceparent ??= newTraceparent(this.#sampled));
  }
}

/** `sampled`: the flag of a trace that begins here. */
export const requestContext = (req: IncomingMessage, sampled = true): RequestContext =>
  new ReceivedRequest(req, sampled);

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
