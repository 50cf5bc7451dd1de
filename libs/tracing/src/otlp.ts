import { hostname } from 'node:os';
import {
  type Span as OtelSpan,
  SpanKind as OtelSpanKind,
  ROOT_CONTEXT,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { TracingOptions } from './options.ts';
import { isSampled, isTraceparent, spanIdOf, traceIdOf } from './traceparent.ts';
import type { Attributes, Span, SpanKind, Tracing } from './tracing.ts';

/** Spans are sent in batches. Spans beyond the queue's size are dropped. */
const batches = { scheduledDelayMillis: 1_000, maxExportBatchSize: 512, maxQueueSize: 4_096 };
/** For sending one batch, including retries. */
const exportTimeoutMs = 3_000;

const kinds: Record<SpanKind, OtelSpanKind> = {
  server: OtelSpanKind.SERVER,
  producer: OtelSpanKind.PRODUCER,
  consumer: OtelSpanKind.CONSUMER,
};

/**
 * Records spans and sends them by OTLP over HTTP, as JSON. The sampling decision is made before OpenTelemetry is called, so
 * a request that is not recorded costs only a comparison.
 */
export function createOtlpTracing({
  endpoint,
  ratio,
  service,
  role,
  onSent = () => {},
}: TracingOptions & { readonly endpoint: string }): Tracing {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: exportTimeoutMs,
  });
  const provider = new TracerProvider({
    sampler: new AlwaysOnSampler(),
    resource: resourceFromAttributes({
      'service.name': service,
      'service.namespace': 'attribution',
      'service.instance.id': `${hostname()}:${process.pid}`,
      'attribution.role': role,
    }),
    spanProcessors: [reportingProcessor(exporter, onSent)],
  });
  const tracer = provider.getTracer('@attribution/tracing');
  const chooses = () => Math.random() < ratio;

  return {
    on: true,
    chooses,
    begin(name, kind, parent, attributes = {}) {
      const recorded = parent === undefined ? chooses() : isSampled(parent) && isTraceparent(parent);
      if (!recorded) return undefined;
      const above = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(parent));
      return spanOver(tracer.startSpan(name, { kind: kinds[kind], attributes }, above));
    },
    close: () => provider.shutdown(),
  };
}

const contextOf = (traceparent: string) => ({
  traceId: traceIdOf(traceparent),
  spanId: spanIdOf(traceparent),
  traceFlags: TraceFlags.SAMPLED,
  isRemote: true,
});

function spanOver(span: OtelSpan): Span {
  const { traceId, spanId } = span.spanContext();
  return {
    traceparent: `00-${traceId}-${spanId}-01`,
    recorded: true,
    set: (attributes: Attributes) => void span.setAttributes(attributes),
    end(failure) {
      if (!span.isRecording()) return;
      // Only the name, because messages of database errors can contain rows. The log has the cleaned message.
      if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: nameOf(failure) });
      span.end();
    },
  };
}

const nameOf = (failure: unknown): string => (failure instanceof Error ? failure.name : String(failure));

/** Sends spans in batches and reports the outcome of each batch, and spans that were dropped. The SDK does not report these. */
function reportingProcessor(exporter: SpanExporter, onSent: NonNullable<TracingOptions['onSent']>): SpanProcessor {
  let waiting = 0;
  const processor = new BatchSpanProcessor({
    ...batches,
    exportTimeoutMillis: exportTimeoutMs + 500,
    exporter: {
      export: (spans, done) => {
        waiting -= spans.length;
        exporter.export(spans, (result) => {
          onSent(spans.length, result.code === 0 ? undefined : (result.error ?? new Error('The spans were not taken')));
          done(result);
        });
      },
      forceFlush: async () => exporter.forceFlush?.(),
      shutdown: () => exporter.shutdown(),
    },
  });
  return {
    onStart: (span, context) => processor.onStart(span, context),
    onEnd(span) {
      if (waiting >= batches.maxQueueSize) return onSent(1, new Error('Too many spans wait to be sent'));
      waiting++;
      processor.onEnd(span);
    },
    forceFlush: () => processor.forceFlush(),
    shutdown: () => processor.shutdown(),
  };
}
