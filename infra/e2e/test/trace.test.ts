import { createClient, signup } from '@attribution/contracts';
import { type CollectedSpan, startTraceCollector, type TraceCollector } from '@attribution/servers';
import { createTestDatabase, eventually, type TestDatabase, testServers } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Fleet, startFleet } from '../faults/fleet.ts';
import { fromSomewhere, newEmail, password } from './support.ts';

const brokers = testServers.kafkaBrokers();
const fleet = brokers ? describe : describe.skip;

fleet('a trace through the processes of a fleet and Kafka', () => {
  const databases: TestDatabase[] = [];
  let collector: TraceCollector;
  let running: Fleet;

  beforeAll(async () => {
    collector = await startTraceCollector();
    running = await startFleet({
      kafkaBrokers: brokers ?? [],
      async database(service) {
        const database = await createTestDatabase(service);
        databases.push(database);
        return database.url;
      },
      environment: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_TRACES_SAMPLER_ARG: '1',
        LOG_LEVEL: 'debug',
      },
    });
  });

  afterAll(async () => {
    await running?.stop();
    await collector?.stop();
    await Promise.all(databases.map((database) => database.drop()));
  });

  const traceId = '5759e988bd862e3fe1be46a994272793';
  const page = '53995c3f42cd8ad8';

  test('a sign-up has spans for the gateway, Account, the publication, and the handlers in Billing and Organization, each the child of its cause', async () => {
    const client = createClient({
      baseUrl: running.gateways[0].url,
      headers: { ...fromSomewhere(), traceparent: `00-${traceId}-${page}-00` },
    });
    const answer = await client.call(signup, { body: { email: newEmail(), password, full_name: 'Ada' } });
    expect(answer.status).toBe(202);

    const all = (service: string, name: string) =>
      collector.spansOf(traceId).filter((span) => span.service === service && span.name === name);
    const find = (service: string, name: string) => all(service, name)[0];
    const path = ['POST /v2/auth/signup', 'publish account.created', 'consume account.created'] as const;
    await eventually(() => {
      expect(find('billing', path[2])).toBeDefined();
      expect(find('organization', path[2])).toBeDefined();
    });
    // Each process exports its spans in batches, so those of the consumers may arrive first.
    const spans = await eventually(() => {
      const found = {
        gateway: find('gateway', path[0]),
        account: find('account', path[0]),
        billing: find('billing', path[2]),
        organization: find('organization', path[2]),
      };
      for (const span of Object.values(found)) expect(span).toBeDefined();
      // A publication that was not acknowledged is repeated, and has a span of its own.
      const publications = all('account', path[1]).map(({ spanId }) => spanId);
      for (const effect of [found.billing, found.organization]) expect(publications).toContain(effect?.parentSpanId);
      return found as Record<keyof typeof found, CollectedSpan>;
    });

    const { gateway, account, billing, organization } = spans;
    expect(gateway).toMatchObject({ parentSpanId: page, kind: 'server', failure: undefined });
    expect(gateway.attributes).toMatchObject({ operation: 'signup', 'http.response.status_code': 202 });
    expect(account).toMatchObject({ parentSpanId: gateway.spanId, kind: 'server' });
    for (const publication of all('account', path[1]))
      expect(publication).toMatchObject({ parentSpanId: account.spanId, kind: 'producer' });
    for (const effect of [billing, organization])
      expect(effect).toMatchObject({ kind: 'consumer', failure: undefined });
  });

  test('each process logs the request with the id of the trace', async () => {
    const lines = (output: string) =>
      output
        .split('\n')
        .filter((line) => line.includes(`"trace_id":"${traceId}"`))
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    await eventually(() => {
      expect(lines(running.gateways[0].output)).toContainEqual(expect.objectContaining({ operation: 'signup' }));
      expect(lines(running.services.account[0].output)).toContainEqual(
        expect.objectContaining({ operation: 'signup' }),
      );
    });
    const [line] = lines(running.gateways[0].output);
    const spans = collector.spansOf(traceId);
    expect(spans.map(({ spanId }) => spanId)).toContain(line?.span_id);
    expect(spans.map(({ attributes }) => attributes.request_id)).toContain(line?.request_id);
  });

  test('the consumer lag comes from Kafka itself, and becomes 0', async () => {
    await eventually(async () => {
      const text = await (await fetch(`${running.services.billing[0].url}/metrics`)).text();
      expect(text).toContain('consumer_lag{service="billing",topic="account.events"} 0');
      expect(text).toContain('broker_up{service="billing"} 1');
      expect(text).toMatch(/events_handled_total\{service="billing",type="account\.created"\} 1/);
      expect(text).toMatch(/event_age_seconds_count\{service="billing"\} 1/);
    });
  });
});
