import { AsyncLocalStorage } from 'node:async_hooks';
import { spanIdOf, traceIdOf } from './traceparent.ts';
import type { TraceContext } from './tracing.ts';

const current = new AsyncLocalStorage<TraceContext>();

/** Runs the work in a trace, to which its log lines and outgoing requests then belong. */
export const inTrace = <T>(context: TraceContext, work: () => T): T => current.run(context, work);

/** Runs work outside of any trace, for what begins during one request and then serves all. */
export const outsideTraces = <T>(work: () => T): T => current.exit(work);

/** The fields of a log line that name its trace: the current one, unless another is given. */
export function traceFields(
  context: TraceContext | undefined = current.getStore(),
): { trace_id: string; span_id?: string } | undefined {
  if (!context) return undefined;
  const { traceparent, recorded } = context;
  return { trace_id: traceIdOf(traceparent), ...(recorded && { span_id: spanIdOf(traceparent) }) };
}

/** Headers for requests to other services, so that these belong to the same trace. */
export function traceHeaders(): Readonly<Record<string, string>> {
  const context = current.getStore();
  return context ? { traceparent: context.traceparent } : {};
}
