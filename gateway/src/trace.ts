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
  return (req, { method, path, operation }, requestId) => {
    const given = givenTraceparent(req);
    if (!tracing.on) return { traceparent: given ?? newTraceparent(true) };
    const parent = given && withSampled(given, tracing.chooses());
    const about = { 'http.request.method': method, 'http.route': path, operation, request_id: requestId };
    const span = tracing.begin(`${method} ${path}`, 'server', parent, about);
    return span ?? { traceparent: parent ?? newTraceparent(false) };
  };
}

/** It has been answered, whoever did so. */
export function endTrace(trace: Span | TraceContext | undefined, status: number): void {
  if (!trace || !('end' in trace)) return;
  trace.set({ 'http.response.status_code': status });
  trace.end(status >= 500 ? status : undefined);
}
