export { inTrace, outsideTraces, traceFields, traceHeaders } from './current.ts';
export { openTracing } from './open.ts';
export { isTraceparent, withSampled } from './traceparent.ts';
export { type Attributes, noTracing, type Span, type TraceContext, type Tracing } from './tracing.ts';
