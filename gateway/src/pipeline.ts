import type { IncomingMessage, ServerResponse } from 'node:http';
import { refuseCredential, type Verifier } from '@attribution/auth';
import { createMatcher, type Endpoint, Problem } from '@attribution/contracts';
import { problemOf, requestIdOf, traceparentOf, writeProblem } from '@attribution/service';
import type { Logger } from 'pino';
import { clientIpFinder, trustedPeer } from './client-ip.ts';
import { corsFor } from './cors.ts';
import { forwardHeaders } from './forward-headers.ts';
import type { Forwarder } from './forwarder.ts';
import type { Passage, RateLimiter } from './rate-limit.ts';

type Listener = (req: IncomingMessage, res: ServerResponse) => void;

export interface PipelineOptions {
  readonly endpoints: readonly Endpoint[];
  readonly verifier: Verifier;
  readonly limiter: RateLimiter;
  readonly forwarder: Forwarder;
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly problemBase: string;
  readonly logger: Logger;
  /** What answers paths that are no endpoint: health, document, reference; else 404. */
  readonly site: Listener;
  readonly observe: (request: { method: string; operation: string; status: number; seconds: number }) => void;
}

/** The way of every public request, in this order: id, contract, rate limit, token, credential, onward. */
export function createPipeline(options: PipelineOptions): Listener {
  const { logger, problemBase, verifier, limiter, forwarder } = options;
  const match = createMatcher(options.endpoints);
  const clientIpOf = clientIpFinder(options.trustedProxies);
  const isTrusted = trustedPeer(options.trustedProxies);
  const answerCors = corsFor(options.corsOrigins);

  async function pass(req: IncomingMessage, res: ServerResponse, endpoint: Endpoint, requestId: string): Promise<void> {
    const ip = clientIpOf(req);
    const passage = await limiter.enter(endpoint, ip);
    try {
      if (res.closed) return; // The client went away while it waited for its turn.
      for (const [name, value] of Object.entries(passage?.headers ?? {})) res.setHeader(name, value);
      const { credential } = endpoint.access;
      const { authorization } = req.headers;
      if (credential !== 'none' && (credential !== 'optional' || authorization !== undefined)) {
        const refused = refuseCredential(endpoint, verifier.authenticate(authorization));
        if (refused) throw refused;
      }
      req.headers = forwardHeaders(req.headers, {
        'x-request-id': requestId,
        'x-forwarded-for': ip,
        'x-forwarded-proto': (isTrusted(req) && protoOf(req)) || 'http',
        traceparent: traceparentOf(req),
      });
      await onward(req, res, endpoint, passage);
    } finally {
      passage?.settle(undefined);
    }
  }

  async function onward(req: IncomingMessage, res: ServerResponse, endpoint: Endpoint, passage: Passage | undefined) {
    try {
      await forwarder.forward(endpoint.service, req, res, (status) => passage?.settle(status));
    } catch (error) {
      logger.warn({ err: error, service: endpoint.service, operation: endpoint.operation }, 'An upstream failed');
      throw new Problem('upstream-error', 'A service behind the gateway did not answer. Try again.', {
        'retry-after': '1',
      });
    }
  }

  return (req, res) => {
    const started = performance.now();
    const requestId = requestIdOf(req);
    res.setHeader('x-request-id', requestId);
    for (const name in securityHeaders) res.setHeader(name, securityHeaders[name] as string);

    const url = req.url ?? '/';
    const query = url.indexOf('?');
    const endpoint = match(req.method ?? '', query === -1 ? url : url.slice(0, query));
    res.once('close', () => {
      const seconds = (performance.now() - started) / 1000;
      const operation = endpoint?.operation ?? 'none';
      const { method = '' } = req;
      options.observe({ method, operation, status: res.statusCode, seconds });
      logger.info(
        { request_id: requestId, method, operation, status: res.statusCode, ms: Math.round(seconds * 1000) },
        'request',
      );
    });

    const fault = faultOf(req);
    if (fault) {
      writeProblem(res, new Problem('validation-error', fault), problemBase);
    } else if (answerCors(req, res)) {
      return;
    } else if (!endpoint) {
      options.site(req, res);
    } else {
      pass(req, res, endpoint, requestId).catch((error: unknown) => {
        if (!(error instanceof Problem)) logger.error({ err: error, request_id: requestId }, 'The gateway failed');
        writeProblem(res, problemOf(error), problemBase);
      });
    }
  };
}

const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
};

function protoOf(req: IncomingMessage): 'http' | 'https' | undefined {
  const proto = req.headers['x-forwarded-proto'];
  return proto === 'http' || proto === 'https' ? proto : undefined;
}

/** What Node's parser lets through and RFC 9112 (§2.3, §3.2) does not. */
function faultOf({ httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return `HTTP/${httpVersion}: is not spoken here; HTTP/1.1 is.`;
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === 'host') hosts++;
  if (hosts > 1) return 'Host: the header is given more than once.';
  return hosts === 0 && httpVersion === '1.1' ? 'Host: the header is missing.' : undefined;
}
