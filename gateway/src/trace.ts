import type { IncomingMessage } from 'node:http';
import type { Endpoint } from '@attribution/contracts';
import { givenTraceparent, newTraceparent } from '@attribution/http';
import { type Span, type TraceContext, type Tracing, withSampled } from '@attribution/tracing';

/**
 * Finds the trace of a request: the client's where it names one, else a new one. Whether it is recorded is decided here,
 * by the ratio, and followed by everybody behind: at a client's word anybody could have everything recorded.
 */
export function traceFinder(
  tracing: Tracing,
): (req: IncomingMessage, endpoint: Endpoint, requestId: string) => Span | TraceContext {
  if (!tracing.on) return (req) => ({ traceparent: givenTraceparent(req) ?? newTraceparent(true) });
  return (req, { method, path, operation }, requestId) => {
    const given = givenTraceparent(req);
    // The choice comes first: for what is not recorded nothing is made.
    if (given && !tracing.chooses()) return { traceparent: withSampled(given, false) };
    const span = tracing.begin(`${method} ${path}`, 'server', given && withSampled(given, true));
    if (!span) return { traceparent: newTraceparent(false) };
    span.set({ 'http.request.method': method, 'http.route': path, operation, request_id: requestId });
    return span;
  };
}

/** It has been answered, whoever did so. */
export function endTrace(trace: Span | TraceContext | undefined, status: number): void {
  if (!trace || !('end' in trace)) return;
  trace.set({ 'http.response.status_code': status });
  trace.end(status >= 500 ? status : undefined);
}
