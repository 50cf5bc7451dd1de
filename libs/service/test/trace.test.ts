import { createClient } from '@attribution/contracts';
import { startTraceCollector, type TraceCollector } from '@attribution/servers';
import { eventually } from '@attribution/testing';
import { openTracing, type Tracing, traceHeaders } from '@attribution/tracing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { implement } from '../src/index.ts';
import { type App, declare, startApp } from './support.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const caller = 'b7ad6b7169203331';
const body = z.object({ traceparent: z.string(), asked: z.string().optional() });

const look = declare({
  operation: 'look',
  method: 'GET',
  path: '/v2/look',
  success: { status: 200, description: '', body },
});
const ask = declare({
  operation: 'ask',
  method: 'GET',
  path: '/v2/ask',
  success: { status: 200, description: '', body },
});
const fail = declare({ operation: 'fail', method: 'GET', path: '/v2/fail' });

let collector: TraceCollector;
let tracing: Tracing;
let app: App;
beforeAll(async () => {
  collector = await startTraceCollector();
  tracing = await openTracing({ endpoint: collector.url, ratio: 0, service: 'probe', role: 'api' });
  app = await startApp(
    [
      implement(look, async ({ request }) => {
        await new Promise((resolve) => setTimeout(resolve, 5)); // Other requests are handled meanwhile.
        app.logs.logger.info({ look: request.id }, 'Looked');
        return { traceparent: request.traceparent };
      }),
      implement(ask, async ({ request }) => {
        const other = createClient({ baseUrl: `http://127.0.0.1:${app.port}`, headers: traceHeaders });
        const { body } = await other.call(look);
        return { traceparent: request.traceparent, asked: body.traceparent };
      }),
      implement(fail, () => Promise.reject(new RangeError('of what is in a row'))),
    ],
    { tracing },
  );
});
afterAll(async () => {
  await app.stop();
  await tracing.close();
  await collector.stop();
});

const get = async (path: string, traceparent?: string, id = 'one-request') => {
  const headers = { 'x-request-id': id, ...(traceparent !== undefined && { traceparent }) };
  const answer = await app.send(path, { headers });
  return answer.status === 200 ? body.parse(JSON.parse(answer.text)) : undefined;
};
const spanNamed = (traceId: string, name: string) =>
  eventually(() => {
    const span = collector.spansOf(traceId).find((one) => one.name === name);
    expect(span).toBeDefined();
    return span;
  });

test('a request of a recorded trace has a span below its caller’s, and its own calls and events are below that span', async () => {
  const answered = await get('/v2/look', `00-${trace}-${caller}-01`);
  const span = await spanNamed(trace, 'GET /v2/look');
  expect(span).toMatchObject({ parentSpanId: caller, kind: 'server', attributes: { operation: 'look' } });
  expect(answered?.traceparent).toBe(`00-${trace}-${span?.spanId}-01`);
});

test('a trace that is not recorded gets no span, and is passed on unchanged', async () => {
  const given = `00-${trace.replace('0af7', 'ffff')}-${caller}-00`;
  expect((await get('/v2/look', given))?.traceparent).toBe(given);
  expect((await get('/v2/look'))?.traceparent).toMatch(/-00$/);
  expect(collector.spansOf(given.slice(3, 35))).toEqual([]);
});

test('a handler’s call of another service belongs to the same trace', async () => {
  const traceId = trace.replace('0af7', 'aaaa');
  const answered = await get('/v2/ask', `00-${traceId}-${caller}-01`);
  const [asking, asked] = [await spanNamed(traceId, 'GET /v2/ask'), await spanNamed(traceId, 'GET /v2/look')];
  expect(asked?.parentSpanId).toBe(asking?.spanId);
  expect(answered?.asked?.slice(3, 35)).toBe(traceId);
});

test('the span of a failed request has the error’s name, not its message', async () => {
  const traceId = trace.replace('0af7', 'bbbb');
  await get('/v2/fail', `00-${traceId}-${caller}-01`);
  const span = await spanNamed(traceId, 'GET /v2/fail');
  expect(span).toMatchObject({ failure: '503', attributes: { 'error.type': 'RangeError' } });
  expect(JSON.stringify(span)).not.toContain('of what is in a row');
});

test('each log line belongs to the trace of its own request, although many are handled concurrently', async () => {
  const ids = Array.from({ length: 20 }, (_, n) => n.toString(16).padStart(32, 'c'));
  await Promise.all(ids.map((id) => get('/v2/look', `00-${id}-${caller}-01`, `request-${id}`)));
  await get('/v2/fail', `00-${ids[0]}-${caller}-01`);
  await eventually(() => {
    const lines = app.logs
      .text()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, string>);
    for (const id of ids) {
      const own = lines.filter((line) => (line.look ?? line.request_id) === `request-${id}`);
      expect(own.map(({ msg, trace_id }) => [msg, trace_id])).toEqual([
        ['Looked', id],
        ['request', id],
      ]);
      expect(new Set(own.map(({ span_id }) => span_id)).size).toBe(1);
    }
    expect(lines.find(({ msg }) => msg === 'A request failed')).toMatchObject({ trace_id: expect.any(String) });
  });
});
