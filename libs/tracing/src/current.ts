import { AsyncLocalStorage } from 'node:async_hooks';
import { spanIdOf, traceIdOf } from './traceparent.ts';
import type { TraceContext } from './tracing.ts';

const current = new AsyncLocalStorage<TraceContext>();

/** Does the work in a trace: what it logs and whom it asks is told so. */
export const inTrace = <T>(context: TraceContext, work: () => T): T => current.run(context, work);

/** For what was begun in one request and lives on for all of them. */
export const outsideTraces = <T>(work: () => T): T => current.exit(work);

/** What a log line says of where it belongs: of this work, unless another is given. */
export function traceFields(
  context: TraceContext | undefined = current.getStore(),
): { trace_id: string; span_id?: string } | undefined {
  if (!context) return undefined;
  const { traceparent, recorded } = context;
  return { trace_id: traceIdOf(traceparent), ...(recorded && { span_id: spanIdOf(traceparent) }) };
}

/** For questions to other services, so that their answers are of the same trace. */
export function traceHeaders(): Readonly<Record<string, string>> {
  const context = current.getStore();
  return context ? { traceparent: context.traceparent } : {};
}
