import { startTraceCollector, type TraceCollector } from '@attribution/servers';
import { eventually } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { inTrace, noTracing, openTracing, type Span, traceFields, traceHeaders } from '../src/index.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const caller = 'b7ad6b7169203331';
const sampled = `00-${trace}-${caller}-01`;

let collector: TraceCollector;
beforeAll(async () => {
  collector = await startTraceCollector();
});
afterAll(() => collector.stop());

const open = (ratio: number, endpoint: string | undefined = collector.url) =>
  openTracing({ endpoint, ratio, service: 'probe', role: 'api' });
const traceOf = (span: Span | undefined) => span?.traceparent.slice(3, 35) ?? '';
const idOf = (span: Span | undefined) => span?.traceparent.slice(36, 52);

describe('recording', () => {
  test('a span has its attributes, and is below the span that caused it, also if that is another process’s', async () => {
    const tracing = await open(0);
    const request = tracing.begin('GET /v2/things', 'server', sampled, { operation: 'list_things' });
    const effect = tracing.begin('consume thing.counted', 'consumer', request?.traceparent);
    effect?.end();
    request?.set({ 'http.response.status_code': 200 });
    request?.end();
    await tracing.close();
    const find = (span: Span | undefined) => collector.spansOf(trace).find(({ spanId }) => spanId === idOf(span));
    expect(find(request)).toMatchObject({
      ...{ name: 'GET /v2/things', kind: 'server', parentSpanId: caller, service: 'probe', role: 'api' },
      attributes: { operation: 'list_things', 'http.response.status_code': 200 },
      failure: undefined,
    });
    expect(find(effect)).toMatchObject({
      ...{ name: 'consume thing.counted', kind: 'consumer', parentSpanId: idOf(request) },
    });
  });

  test('without a parent a new trace begins', async () => {
    const tracing = await open(1);
    const span = tracing.begin('a job', 'consumer', undefined);
    expect(span?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    span?.end();
    await tracing.close();
    expect(collector.spansOf(traceOf(span))).toMatchObject([{ parentSpanId: undefined }]);
  });

  test('new traces are recorded by the ratio, others as their caller decided', async () => {
    const [never, always] = [await open(0), await open(1)];
    expect([never.chooses(), always.chooses()]).toEqual([false, true]);
    expect(never.begin('x', 'server', undefined)).toBeUndefined();
    expect(always.begin('x', 'server', `00-${trace}-${caller}-00`)).toBeUndefined();
    expect(never.begin('x', 'server', sampled)).toBeDefined();
    expect(always.begin('x', 'server', 'nothing of the kind')).toBeUndefined();
    await Promise.all([never.close(), always.close()]);
  });

  test('only the name of an error is recorded, because messages can contain rows', async () => {
    const tracing = await open(1);
    const span = tracing.begin('x', 'server', undefined);
    span?.end(new TypeError('key (email)=(ada@example.com) exists'));
    span?.end();
    await tracing.close();
    const spans = collector.spansOf(traceOf(span));
    expect(spans).toMatchObject([{ failure: 'TypeError' }]);
    expect(JSON.stringify(spans)).not.toContain('ada@');
  });
});

test('without an endpoint nothing is recorded, and OpenTelemetry is not loaded', async () => {
  const tracing = await openTracing({ endpoint: undefined, ratio: 1, service: 'probe', role: 'api' });
  expect(tracing).toBe(noTracing);
  expect(tracing.begin('x', 'server', sampled)).toBeUndefined();
  await tracing.close();
});

test('an unavailable collector: lost spans are reported, and nothing else is affected', async () => {
  const outcomes: (Error | undefined)[] = [];
  const tracing = await openTracing({
    ...{ endpoint: 'http://127.0.0.1:1', ratio: 1, service: 'probe', role: 'api' },
    onSent: (_spans, error) => void outcomes.push(error),
  });
  tracing.begin('x', 'server', undefined)?.end();
  await tracing.close().catch(() => {});
  await eventually(() => expect(outcomes).toMatchObject([{ code: 'ECONNREFUSED' }]));
});

test('spans beyond the queue are reported as lost, so that each span is either sent or lost', async () => {
  const reported = { sent: 0, lost: 0 };
  const tracing = await openTracing({
    ...{ endpoint: collector.url, ratio: 1, service: 'probe', role: 'api' },
    onSent: (spans, error) => {
      reported[error ? 'lost' : 'sent'] += spans;
    },
  });
  for (let n = 0; n < 5_000; n++) tracing.begin('x', 'server', undefined)?.end();
  await tracing.close();
  await eventually(() => expect(reported.sent + reported.lost).toBe(5_000));
  expect(reported.lost).toBeGreaterThan(0);
});

describe('the trace of the current work', () => {
  test('is in log fields and outgoing headers, also after an await, and nowhere else', async () => {
    expect([traceFields(), traceHeaders()]).toEqual([undefined, {}]);
    const seen = await inTrace({ traceparent: sampled }, async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      return [traceFields(), traceHeaders()];
    });
    expect(seen).toEqual([{ trace_id: trace }, { traceparent: sampled }]);
    expect(traceFields()).toBeUndefined();
  });

  test('has the span’s id if the span is recorded', () => {
    expect(traceFields({ traceparent: sampled, recorded: true })).toEqual({ trace_id: trace, span_id: caller });
  });
});
