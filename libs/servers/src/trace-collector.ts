import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** A received span. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** The id of the parent span; undefined if the trace begins here. */
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  /** The process that sent it. */
  readonly service: string;
  readonly role: string;
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The name of the error, if there was one. */
  readonly failure: string | undefined;
}

export interface TraceCollector {
  /** The URL for OTLP over HTTP. `/traces/<id>` there shows a trace. */
  readonly url: string;
  /** The spans of a trace that were received so far, ordered by their start. */
  spansOf(traceId: string): readonly CollectedSpan[];
  stop(): Promise<void>;
}

/** The number of traces that are kept. Older ones are dropped. */
const kept = 2_000;

/** Receives spans by OTLP over HTTP, as JSON, and keeps them in memory, for tests and for people without a trace store. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const traces = new Map<string, CollectedSpan[]>();

  function keep(span: CollectedSpan): void {
    const known = traces.get(span.traceId);
    if (known) {
      known.push(span);
      return;
    }
    traces.set(span.traceId, [span]);
    const [oldest] = traces.keys();
    if (traces.size > kept && oldest !== undefined) traces.delete(oldest);
  }

  const spansOf = (traceId: string) => (traces.get(traceId) ?? []).toSorted((a, b) => a.start - b.start);

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    res.setHeader('content-type', 'application/json');
    if (req.method === 'POST' && req.url === '/v1/traces') {
      for (const span of spansIn((await json(req)) as ExportRequest)) keep(span);
      res.end('{}');
      return;
    }
    const [, traceId = ''] = /^\/traces\/([0-9a-f]{32})$/.exec(req.url ?? '') ?? [];
    const spans = spansOf(traceId);
    res.statusCode = spans.length > 0 ? 200 : 404;
    res.end(JSON.stringify(spans, null, 2));
  }

  const server = createServer((req, res) => {
    answer(req, res).catch(() => res.writeHead(400).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spansOf,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** What is used here of ExportTraceServiceRequest in OTLP's JSON encoding. */
interface ExportRequest {
  readonly resourceSpans?: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] };
    readonly scopeSpans?: readonly { readonly spans?: readonly OtlpSpan[] }[];
  }[];
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly KeyValue[];
  readonly status?: { readonly code?: number; readonly message?: string };
}

const kinds = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
const failed = 2;

function spansIn({ resourceSpans = [] }: ExportRequest): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans = [] }) => {
    const about = valuesOf(resource?.attributes);
    return scopeSpans.flatMap(({ spans = [] }) =>
      spans.map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId || undefined,
        name: span.name,
        kind: kinds[span.kind] ?? 'internal',
        service: String(about['service.name']),
        role: String(about['attribution.role']),
        start: Number(span.startTimeUnixNano) / 1e6,
        end: Number(span.endTimeUnixNano) / 1e6,
        attributes: valuesOf(span.attributes),
        failure: span.status?.code === failed ? (span.status.message ?? '') : undefined,
      })),
    );
  });
}

/** `{ key, value: { stringValue } }`, or a value of another type. */
const valuesOf = (pairs: readonly KeyValue[] = []): Record<string, unknown> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]));
