import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  bodyLimitOf,
  createMatcher,
  type Endpoint,
  isAnonymous,
  Problem,
  type ServiceName,
} from '@attribution/contracts';
import {
  answeredStatus,
  type ByteBudget,
  type HttpMetrics,
  networkOf,
  newRequestId,
  platformIdHeader,
  problemOf,
  type RequestCaller,
  type RequestContext,
  readBody,
  requestIdOf,
  requestRecorder,
  securityHeaders,
  writeProblem,
} from '@attribution/http';
import { type TraceContext, type Tracing, traceFields } from '@attribution/tracing';
import type { Logger } from 'pino';
import { clientIpFinder, trustedPeer } from './client-ip.ts';
import type { ClientShares } from './client-shares.ts';
import { corsFor } from './cors.ts';
import { createDrain } from './drain.ts';
import { forwardHeaders } from './forward-headers.ts';
import { announcesBody, bodyArrives, type Forwarder } from './forwarder.ts';
import { malformationOf } from './malformed.ts';
import type { RateLimiter } from './rate-limit.ts';
import { type HeaderList, setHeaders } from './response-headers.ts';
import { endTrace, traceFinder } from './trace.ts';

type Listener = (req: IncomingMessage, res: ServerResponse) => void;

/** Who sends a request, and what the service is told about it. */
export interface Authenticated {
  /** For the request line. */
  readonly caller?: RequestCaller;
  /** The endpoint is not for this caller. */
  readonly refused?: Problem;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called with the status of the service's response. */
  onResponse?(status: number): void;
}

/** How the request is known in the audit log. */
export type Asked = Pick<RequestContext, 'id' | 'platformId' | 'ip'>;

/** Finds out who sends a request. Throws, or rejects with, the problem if nobody has proved to be its sender. */
export type Authenticate = (
  endpoint: Endpoint,
  req: IncomingMessage,
  asked: Asked,
) => Authenticated | undefined | Promise<Authenticated | undefined>;

export interface PipelineOptions {
  readonly endpoints: readonly Endpoint[];
  readonly authenticate: Authenticate;
  readonly limiter: RateLimiter;
  readonly forwarder: Forwarder;
  /** Those of endpoints that have one of their own, by operation. Default: none. */
  readonly forwarders?: ReadonlyMap<string, Forwarder>;
  /** What the process may hold of request bodies. */
  readonly bodies: ByteBudget;
  readonly shares: ClientShares;
  readonly trustedProxies: readonly string[];
  /** Which headers of clients no service gets, besides those that none ever gets. Default: none. */
  readonly strips?: (name: string) => boolean;
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
  /** The platform's own, whatever id the client has chosen. */
  readonly platformId: string;
  readonly trace: TraceContext;
  /** Headers that the gateway adds to the response, whether a service or the gateway itself gives it. */
  readonly gatewayHeaders: string[];
  /** Once it is known. */
  caller?: RequestCaller | undefined;
}

/** The steps of every request from outside, in order: id, contract, rate limit, credential, forwarding. */
export function createPipeline(options: PipelineOptions): Listener {
  const { logger, problemBase, limiter, forwarders } = options;
  const match = createMatcher(options.endpoints);
  const clientIpOf = clientIpFinder(options.trustedProxies);
  const isTrusted = trustedPeer(options.trustedProxies);
  const cors = corsFor(options.corsOrigins);
  const traceOf = traceFinder(options.tracing);
  const record = requestRecorder(options.metrics, logger, 'info');
  const drain = createDrain();

  async function serve(exchange: Exchange): Promise<void> {
    const { req, res, endpoint, requestId, trace, gatewayHeaders } = exchange;
    const ip = clientIpOf(req);
    options.shares.enter(req, res, ip);
    const admitting = limiter.admit(endpoint, ip);
    const admission = admitting && (await admitting); // No `await` without a limit: it would cost a turn.
    let endTurn: (() => void) | undefined;
    try {
      if (res.closed) return; // The client disconnected while its request waited.
      if (admission) for (const name in admission.headers) gatewayHeaders.push(name, admission.headers[name] ?? '');
      const authenticating = options.authenticate(endpoint, req, {
        id: requestId,
        platformId: exchange.platformId,
        ip,
      });
      const authenticated = authenticating instanceof Promise ? await authenticating : authenticating;
      exchange.caller = authenticated?.caller;
      if (authenticated?.refused) throw authenticated.refused;
      const hasBody = !endpoint.stream && announcesBody(req);
      const body = hasBody && isAnonymous(endpoint) ? await holdBody(exchange, ip) : undefined;
      if (hasBody && !body && !(await bodyArrives(req)))
        endTurn = await options.shares.waitToSend(endpoint, exchange.caller, res, ip);
      if (res.closed) return;
      const set = {
        ...authenticated?.headers,
        'x-request-id': requestId,
        [platformIdHeader]: exchange.platformId,
        'x-forwarded-for': ip,
        'x-forwarded-proto': (isTrusted(req) && protoOf(req)) || ('encrypted' in req.socket ? 'https' : 'http'),
        traceparent: trace.traceparent,
      };
      req.headers = forwardHeaders(req.headers, set, options.strips);
      const onResponse = (status: number) => {
        admission?.settle(status);
        authenticated?.onResponse?.(status);
      };
      await forward(exchange, onResponse, body);
    } finally {
      endTurn?.();
      admission?.settle(undefined);
    }
  }

  /** The body of a request that needs no token is small. No service has to do with it before it has arrived. */
  async function holdBody({ req, res, endpoint }: Exchange, ip: string): Promise<Buffer> {
    const claim = options.bodies.claim(`address ${networkOf(ip)}`);
    res.once('close', () => claim.release());
    return readBody(req, { maxBytes: bodyLimitOf(endpoint), claim });
  }

  async function forward(
    exchange: Exchange,
    onResponse: (status: number) => void,
    body: Buffer | undefined,
  ): Promise<void> {
    const { req, res, endpoint, requestId, trace, gatewayHeaders } = exchange;
    const { service, operation } = endpoint;
    const forwarder = forwarders?.get(operation) ?? options.forwarder;
    try {
      await forwarder.forward(service, req, res, onResponse, gatewayHeaders, body);
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
    const drains = !announcesBody(res.req) || drain.add(res.req, networkOf(clientIpOf(res.req)));
    if (!res.headersSent) setHeaders(res, drains ? gatewayHeaders : [...gatewayHeaders, 'connection', 'close']);
    writeProblem(res, problem, problemBase);
  }

  return (req, res) => {
    const started = performance.now();
    const platformId = newRequestId();
    const requestId = requestIdOf(req, platformId);
    const url = req.url ?? '/';
    const query = url.indexOf('?');
    const endpoint = match(req.method ?? '', query === -1 ? url : url.slice(0, query));
    const security = endpoint?.stream === 'sent' ? filesSecurityHeaders : securityHeaderList;
    const gatewayHeaders = [...security, ...cors.headersFor(req), 'x-request-id', requestId];
    const trace = endpoint && traceOf(req, endpoint, requestId);
    const exchange: Exchange | undefined = endpoint &&
      trace && { req, res, endpoint, requestId, platformId, trace, gatewayHeaders };
    res.on('close', () => {
      const { method = '' } = req;
      const status = answeredStatus(res);
      record({
        request_id: requestId,
        platform_request_id: platformId,
        trace,
        caller: exchange?.caller,
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
    } else if (!exchange) {
      setHeaders(res, gatewayHeaders);
      options.site(req, res);
    } else {
      serve(exchange).catch((error: unknown) => {
        if (!(error instanceof Problem)) {
          const fields = { request_id: requestId, ...traceFields(trace) };
          logger.error({ err: error, ...fields }, 'The gateway failed');
        }
        refuse(res, gatewayHeaders, problemOf(error));
      });
    }
  };
}

const securityHeaderList: HeaderList = Object.entries(securityHeaders).flat();

/** Pages of other origins show the files whose URLs they were given. */
const filesSecurityHeaders = securityHeaderList.map((value) => (value === 'same-origin' ? 'cross-origin' : value));

function protoOf(req: IncomingMessage): 'http' | 'https' | undefined {
  const proto = req.headers['x-forwarded-proto'];
  return proto === 'http' || proto === 'https' ? proto : undefined;
}
