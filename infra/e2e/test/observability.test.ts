import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { edgeNames } from '@attribution/contracts';
import {
  createGateway,
  createIngress,
  deviceUpstreamsAt,
  readGatewaySettings,
  readIngressSettings,
  upstreamsAt,
} from '@attribution/gateway';
import { programNames } from '@attribution/image';
import { loadService } from '@attribution/registry';
import { observeProcess, openProcessTracing, writeMetrics } from '@attribution/runtime';
import {
  captureLogs,
  startTestService,
  type TestService,
  testInternalKeys,
  testKeys,
  testServers,
} from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  alertmanager,
  alertmanagerFile,
  alertmanagers,
  alerts,
  containers,
  dashboards,
  dataSources,
  expressions,
  metricsIn,
  root,
  ruleFiles,
} from './observability.ts';

const runbooks = join(root, 'docs/runbooks');
/** Metrics that Prometheus itself provides. */
const prometheusMetrics = new Set(['up', 'ALERTS']);

describe('alerts', () => {
  test.each(alerts.map(({ alert, annotations }) => [alert, annotations.runbook] as const))(
    '%s has a runbook that says what it means, what to look at, and what to do',
    (alert, runbook) => {
      const page = readFileSync(join(root, runbook), 'utf8');
      expect(page.startsWith(`# ${alert}\n`)).toBe(true);
      for (const part of ['**Means.**', '**Look at.**', '**Do.**']) expect(page).toContain(part);
    },
  );

  test('every runbook belongs to an alert, and its links lead to existing pages', () => {
    const pages = readdirSync(runbooks).filter((name) => name !== 'README.md');
    expect(pages.toSorted()).toEqual(alerts.map(({ annotations }) => annotations.runbook.split('/').at(-1)).toSorted());
    for (const page of pages)
      for (const [, link = ''] of readFileSync(join(runbooks, page), 'utf8').matchAll(/\]\(([^)]+)\)/g))
        expect([page, link, existsSync(join(runbooks, link))]).toEqual([page, link, true]);
  });

  test('every panel that a runbook mentions is on a dashboard', () => {
    const titles = new Set(dashboards.flatMap(({ panels }) => panels.map(({ title }) => title)));
    for (const page of readdirSync(runbooks))
      for (const [, title = ''] of readFileSync(join(runbooks, page), 'utf8').matchAll(
        /(?<!\*)\*([A-Z][^*]+)\*(?!\*)/g,
      ))
        if (title !== 'Platform')
          expect([page, [...titles].filter((one) => one.startsWith(title))]).not.toEqual([page, []]);
  });

  test('an alert covers the absence of every program of the platform', () => {
    const { expr = '' } = alerts.find(({ alert }) => alert === 'ProcessMissing') ?? {};
    const missed = [...expr.matchAll(/service="(\w+)", role="(\w+)"/g)].map(
      ([, service, role]) => `${service} ${role}`,
    );
    const edges: readonly string[] = edgeNames;
    const there = programNames.flatMap((name) =>
      edges.includes(name) ? [`${name} api`] : [`${name} api`, `${name} worker`],
    );
    expect(missed.toSorted()).toEqual(there.toSorted());
  });
});

describe('the receivers of alerts', () => {
  test('each severity has its own receiver', () => {
    const { route, receivers } = alertmanager;
    const chosen = (severity: string) =>
      route.routes.find(({ matchers }) => matchers.includes(`severity = "${severity}"`)) ?? route;
    const severities = [...new Set(alerts.map(({ labels }) => labels.severity))];
    expect(severities.map((severity) => chosen(severity).receiver)).toEqual(severities);
    expect(receivers.map(({ name }) => name).toSorted()).toEqual(severities.toSorted());
  });

  test('Prometheus uses the Alertmanager of docker-compose.yml, which has our routes and sends its mail to Mailpit', () => {
    expect(alertmanagers).toEqual(['alertmanager:9093']);
    expect(containers.alertmanager?.volumes).toContain('./infra/observability/alertmanager:/etc/alertmanager:ro');
    expect(alertmanager.global.smtp_smarthost).toBe('mailpit:1025');
    expect(containers).toHaveProperty('mailpit');
  });
});

describe('dashboards', () => {
  test.each(dashboards.map((dashboard) => [dashboard.uid, dashboard] as const))(
    '%s: panels do not overlap, and use existing data sources',
    (_, { panels }) => {
      const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
        Array.from({ length: w * h }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
      );
      expect(new Set(cells).size).toBe(cells.length);
      expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBeLessThanOrEqual(24);
      expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
      const known = new Set(dataSources.map(({ uid }) => uid));
      for (const { targets } of panels) for (const { datasource } of targets) expect(known).toContain(datasource.uid);
    },
  );
});

describe('the queries of alerts and dashboards', () => {
  /** Every metric that a service's worker or the gateway exports. */
  const exported = new Set<string>();
  /** The names of their labels. */
  const labels = new Set<string>();
  let billing: TestService;
  beforeAll(async () => {
    const process = { service: 'billing', role: 'worker' };
    observeProcess(process);
    const somewhere = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_TRACES_SAMPLER_ARG: 0 };
    const tracing = await openProcessTracing(somewhere, { ...process, logger: captureLogs().logger });
    await tracing.close();
    billing = await startTestService(await loadService('billing'), {
      environment: { SIMULATED_PAYMENTS_URL: 'http://127.0.0.1:0' },
    });
    const gateway = createGateway(
      readGatewaySettings({
        ...upstreamsAt(() => 'http://127.0.0.1:1'),
        TOKEN_PUBLIC_KEYS: JSON.stringify(testKeys.public),
      }),
      captureLogs().logger,
    );
    collect(await writeMetrics(gateway.registry));
    await gateway.close();
    const pem = '-----BEGIN SAMPLE-----';
    const ingress = createIngress(
      readIngressSettings({
        ...deviceUpstreamsAt(() => 'http://127.0.0.1:1'),
        INTERNAL_PRIVATE_KEYS: JSON.stringify(testInternalKeys.private.ingress),
        ...{ DEVICE_CA_CERTIFICATES: pem, DEVICE_TLS_CERTIFICATE: pem, DEVICE_TLS_KEY: pem },
      }),
      captureLogs().logger,
    );
    collect(await writeMetrics(ingress.registry));
    await ingress.close();
    collect(await (await fetch(`${billing.url}/metrics`)).text());
  });
  afterAll(() => billing?.stop());

  function collect(text: string): void {
    for (const [, name = '', type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm))
      for (const part of type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) exported.add(name + part);
    for (const [, list = ''] of text.matchAll(/^\w+\{(.*)\} /gm))
      for (const [, name = ''] of list.matchAll(/(\w+)="/g)) labels.add(name);
  }

  test('no label has a name that Prometheus adds to scraped metrics, because it would rename ours', () => {
    expect([...labels]).toEqual(expect.arrayContaining(['service', 'job_name']));
    for (const name of ['job', 'instance']) expect(labels).not.toContain(name);
  });

  test.each(expressions)('%s: is PromQL over metrics that a process exports', (_, expression) => {
    const metrics = metricsIn(expression);
    expect(metrics.size).toBeGreaterThan(0);
    expect([...metrics].filter((name) => !prometheusMetrics.has(name) && !exported.has(name))).toEqual([]);
  });

  test('invalid PromQL and unknown metrics are detected', () => {
    expect(() => metricsIn('sum(rate(http_requests_total[5m])')).toThrow('no PromQL');
    expect(() => metricsIn('sum by service (x)')).toThrow('no PromQL');
    expect([...metricsIn('sum by (service) (rate(made_up_total{job="x"}[5m]))')]).toEqual(['made_up_total']);
    expect(exported.has('made_up_total')).toBe(false);
  });

  test('gauges that all replicas export with the same value are never summed over replicas', () => {
    const outbox = ['outbox_pending', 'outbox_oldest_seconds', 'outbox_attempts_max'];
    const consumer = ['dead_letters', 'consumer_lag', 'consumer_waiting_offset', 'consumer_missed_events'];
    const alike = [...outbox, ...consumer];
    for (const [where, expression] of expressions)
      for (const name of alike)
        if (new RegExp(`\\b${name}\\b`).test(expression))
          expect([where, expression]).toEqual([
            where,
            expect.stringMatching(new RegExp(`(max|min_over_time)[^)]*\\).*\\b${name}\\b|max\\(${name}`)),
          ]);
  });
});

/** `npm test` provides promtool; in CI it fails without it. */
const promtool = testServers.promtool();
(promtool ? describe : describe.skip)('Prometheus itself', () => {
  const check = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(promtool ?? '', args, {
      cwd: join(root, 'infra/observability'),
      encoding: 'utf8',
    });
    return status === 0 ? 'well' : `${stdout}${stderr}`;
  };

  test('accepts the rules', () => {
    expect(check('check', 'rules', ...ruleFiles)).toBe('well');
  });

  test('fires each alert when it should, and not before', () => {
    expect(check('test', 'rules', 'prometheus/alerts.test.yml', 'prometheus/missing-processes.test.yml')).toBe('well');
  });
});

const amtool = testServers.amtool();
(amtool ? test : test.skip)('Alertmanager itself accepts its configuration', () => {
  const { status, stdout, stderr } = spawnSync(amtool ?? '', ['check-config', alertmanagerFile], { encoding: 'utf8' });
  expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('2 receivers')]);
});
