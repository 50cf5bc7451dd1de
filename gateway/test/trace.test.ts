import { startTraceCollector, type TraceCollector } from '@attribution/servers';
import { eventually, personToken } from '@attribution/testing';
import { openTracing } from '@attribution/tracing';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { startGateway, startUpstream, type TestGateway, type Upstream } from './support.ts';

let upstream: Upstream;
let collector: TraceCollector;
const stops: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  collector = await startTraceCollector();
  upstream = await startUpstream((res, { headers }) => {
    if (headers['x-test-cut'] !== undefined) res.destroy();
    else res.end();
  });
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});
afterAll(async () => {
  await upstream.stop();
  await collector.stop();
});

async function start(ratio: number): Promise<TestGateway> {
  const tracing = await openTracing({ endpoint: collector.url, ratio, service: 'gateway', role: 'api' });
  const gateway = await startGateway(upstream, {}, { tracing });
  stops.push(
    () => gateway.stop(),
    () => tracing.close(),
  );
  return gateway;
}

const token = personToken();
const clientSpan = 'b7ad6b7169203331';
let count = 0;
const newTrace = () => (++count).toString(16).padStart(32, 'a');
const forwarded = () => String(upstream.seen.at(-1)?.headers.traceparent);

test('the client’s trace continues below a span of the gateway, which names the operation and not the path', async () => {
  const gateway = await start(1);
  const trace = newTrace();
  const headers = { traceparent: `00-${trace}-${clientSpan}-01`, 'x-request-id': 'a-traced-request' };
  await gateway.send('/v2/plans?page=private', { token, headers });
  expect(forwarded()).toMatch(new RegExp(`^00-${trace}-(?!${clientSpan})[0-9a-f]{16}-01$`));
  await eventually(() =>
    expect(collector.spansOf(trace)).toMatchObject([
      {
        name: 'GET /v2/plans',
        kind: 'server',
        parentSpanId: clientSpan,
        spanId: forwarded().slice(36, 52),
        attributes: { request_id: 'a-traced-request', operation: 'list_plans', 'http.response.status_code': 200 },
        failure: undefined,
      },
    ]),
  );
  expect(JSON.stringify(collector.spansOf(trace))).not.toContain('private');
  const line = gateway.logs
    .text()
    .split('\n')
    .find((text) => text.includes('a-traced-request'));
  expect(JSON.parse(line ?? '{}')).toMatchObject({ trace_id: trace, span_id: forwarded().slice(36, 52) });
});

test('without a trace of the client’s a new one begins at the gateway', async () => {
  const gateway = await start(1);
  await gateway.send('/v2/plans', { token });
  const [, trace = '', spanId] = forwarded().split('-');
  await eventually(() => expect(collector.spansOf(trace)).toMatchObject([{ parentSpanId: undefined, spanId }]));
});

test('the sampling ratio and not the client decides whether a trace is recorded, and services follow', async () => {
  const gateway = await start(0);
  const trace = newTrace();
  await gateway.send('/v2/plans', { token, headers: { traceparent: `00-${trace}-${clientSpan}-01` } });
  expect(forwarded()).toBe(`00-${trace}-${clientSpan}-00`);
  await gateway.send('/v2/plans', { token });
  expect(forwarded()).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  const everything = await start(1);
  await everything.send('/v2/plans', { token, headers: { traceparent: `00-${trace}-${clientSpan}-00` } });
  expect(forwarded()).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
});

test('a refusal and an upstream’s failure have spans too; a request to an unknown path has none', async () => {
  const gateway = await start(1);
  const [refused, failed, unknown] = [newTrace(), newTrace(), newTrace()];
  await gateway.send('/v2/plans', { headers: { traceparent: `00-${refused}-${clientSpan}-00` } });
  await gateway.send('/v2/plans', {
    token,
    headers: { traceparent: `00-${failed}-${clientSpan}-00`, 'x-test-cut': '1' },
  });
  await gateway.send('/v2/nothing', { token, headers: { traceparent: `00-${unknown}-${clientSpan}-00` } });
  await eventually(() => {
    expect(collector.spansOf(refused)).toMatchObject([{ failure: undefined }]);
    expect(collector.spansOf(failed)).toMatchObject([{ failure: '502' }]);
  });
  expect(collector.spansOf(unknown)).toEqual([]);
  const line = gateway.logs
    .text()
    .split('\n')
    .find((text) => text.includes('An upstream failed'));
  expect(JSON.parse(line ?? '{}')).toMatchObject({ trace_id: failed });
});
