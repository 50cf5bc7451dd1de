import type { IncomingMessage, ServerResponse } from 'node:http';
import { refuseCredential, type Verifier } from '@attribution/auth';
import { createMatcher, type Endpoint, Problem, type ServiceName } from '@attribution/contracts';
import {
  answeredStatus,
  type HttpMetrics,
  problemOf,
  requestIdOf,
  requestRecorder,
  writeProblem,
} from '@attribution/http';
import { type TraceContext, type Tracing, traceFields } from '@attribution/tracing';
import type { Logger } from 'pino';
import { clientIpFinder, trustedPeer } from './client-ip.ts';
import { corsFor } from './cors.ts';
import { forwardHeaders } from './forward-headers.ts';
import type { Forwarder } from './forwarder.ts';
import { malformationOf } from './malformed.ts';
import type { Admission, RateLimiter } from './rate-limit.ts';
import { type HeaderList, setHeaders } from './response-headers.ts';
import { endTrace, traceFinder } from './trace.ts';

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
  /** Handles paths that are not an endpoint: health, OpenAPI document, reference page; 404 for all others. */
  readonly site: Listener;
  readonly metrics: HttpMetrics;
  readonly tracing: Tracing;
  /** Called for each request that a service did not answer. */
  readonly onFailure: (service: ServiceName) => void;
}

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly endpoint: Endpoint;
  readonly requestId: string;
  readonly trace: TraceContext;
  /** Headers that the gateway adds to the response, whether a service or the gateway itself gives it. */
  readonly gatewayHeaders: string[];
}

/** The steps of every public request, in order: id, contract, rate limit, token, credential, forwarding. */
export function createPipeline(options: PipelineOptions): Listener {
  const { logger, problemBase, verifier, limiter, forwarder } = options;
  const match = createMatcher(options.endpoints);
  const clientIpOf = clientIpFinder(options.trustedProxies);
  const isTrusted = trustedPeer(options.trustedProxies);
  const cors = corsFor(options.corsOrigins);
  const traceOf = traceFinder(options.tracing);
  const record = requestRecorder(options.metrics, logger, 'info');

  async function serve(exchange: Exchange): Promise<void> {
    const { req, res, endpoint, requestId, trace, gatewayHeaders } = exchange;
    const ip = clientIpOf(req);
    const admitting = limiter.admit(endpoint, ip);
    const admission = admitting && (await admitting); // No `await` without a limit: it would cost a turn.
    try {
      if (res.closed) return; // The client disconnected while its request waited.
      if (admission) for (const name in admission.headers) gatewayHeaders.push(name, admission.headers[name] ?? '');
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
        traceparent: trace.traceparent,
      });
      await forward(exchange, admission);
    } finally {
      admission?.settle(undefined);
    }
  }

  async function forward(exchange: Exchange, admission: Admission | undefined): Promise<void> {
    const { req, res, endpoint, requestId, trace, gatewayHeaders } = exchange;
    const { service, operation } = endpoint;
    try {
      await forwarder.forward(service, req, res, (status) => admission?.settle(status), gatewayHeaders);
    } catch (error) {
      options.onFailure(service);
      const fields = { request_id: requestId, ...traceFields(trace) };
      logger.warn({ err: error, service, operation, ...fields }, 'An upstream failed');
      throw new Problem('upstream-error', 'A service behind the gateway did not answer. Try again.', {
        'retry-after': '1',
      });
    }
  }

  function refuse(res: ServerResponse, gatewayHeaders: HeaderList, problem: Problem): void {
    if (!res.headersSent) setHeaders(res, gatewayHeaders);
    writeProblem(res, problem, problemBase);
  }

  return (req, res) => {
    const started = performance.now();
    const requestId = requestIdOf(req);
    const gatewayHeaders = [...securityHeaders, ...cors.headersFor(req), 'x-request-id', requestId];

    const url = req.url ?? '/';
    const query = url.indexOf('?');
    const endpoint = match(req.method ?? '', query === -1 ? url : url.slice(0, query));
    const trace = endpoint && traceOf(req, endpoint, requestId);
    res.on('close', () => {
      const { method = '' } = req;
      const status = answeredStatus(res);
      record({
        request_id: requestId,
        trace,
        method,
        operation: endpoint?.operation ?? 'none',
        status,
        seconds: (performance.now() - started) / 1000,
      });
      endTrace(trace, status);
    });

    const fault = malformationOf(req);
    const preflight = cors.preflightFor(req);
    if (fault) {
      res.setHeader('connection', 'close'); // Where the next request would begin is uncertain.
      refuse(res, gatewayHeaders, new Problem('validation-error', fault));
    } else if (preflight) {
      res.writeHead(204, [...gatewayHeaders, ...preflight]).end();
    } else if (!endpoint || !trace) {
      setHeaders(res, gatewayHeaders);
      options.site(req, res);
    } else {
      serve({ req, res, endpoint, requestId, trace, gatewayHeaders }).catch((error: unknown) => {
        if (!(error instanceof Problem)) {
          const fields = { request_id: requestId, ...traceFields(trace) };
          logger.error({ err: error, ...fields }, 'The gateway failed');
        }
        refuse(res, gatewayHeaders, problemOf(error));
      });
    }
  };
}

const securityHeaders: HeaderList = [
  ...['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ...['cross-origin-resource-policy', 'same-origin'],
  ...['referrer-policy', 'no-referrer'],
  ...['strict-transport-security', 'max-age=31536000; includeSubDomains'],
  ...['x-content-type-options', 'nosniff'],
];

function protoOf(req: IncomingMessage): 'http' | 'https' | undefined {
  const proto = req.headers['x-forwarded-proto'];
  return proto === 'http' || proto === 'https' ? proto : undefined;
}
