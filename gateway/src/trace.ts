import type { IncomingMessage } from 'node:http';
import type { Endpoint } from '@attribution/contracts';
import { givenTraceparent, newTraceparent } from '@attribution/http';
import { type Span, type TraceContext, type Tracing, withSampled } from '@attribution/tracing';

/**
 * Finds the trace of a request: the client's if it names one, otherwise a new one. Whether it is recorded is decided here,
 * by the sampling ratio, and every service follows. If the client's flag decided, anybody could have everything recorded.
 */
export function traceFinder(
  tracing: Tracing,
): (req: IncomingMessage, endpoint: Endpoint, requestId: string) => Span | TraceContext {
  if (!tracing.on) return (req) => ({ traceparent: givenTraceparent(req) ?? newTraceparent(true) });
  return (req, { method, path, operation }, requestId) => {
    const given = givenTraceparent(req);
    // Sampling is decided first, so that nothing is allocated for a request that is not recorded.
    if (given && !tracing.chooses()) return { traceparent: withSampled(given, false) };
    const span = tracing.begin(`${method} ${path}`, 'server', given && withSampled(given, true));
    if (!span) return { traceparent: newTraceparent(false) };
    span.set({ 'http.request.method': method, 'http.route': path, operation, request_id: requestId });
    return span;
  };
}

/** Ends the span of a request when its response has been sent, by a service or by the gateway. */
export function endTrace(trace: Span | TraceContext | undefined, status: number): void {
  if (!trace || !('end' in trace)) return;
  trace.set({ 'http.response.status_code': status });
  trace.end(status >= 500 ? status : undefined);
}
