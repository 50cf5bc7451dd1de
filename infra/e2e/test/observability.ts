import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { z } from 'zod';

export const root = join(import.meta.dirname, '../../..');
const folder = join(root, 'infra/observability');

const Alert = z.object({
  alert: z.string(),
  expr: z.string(),
  for: z.string(),
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string(), runbook: z.string() }),
});
const Rules = z.strictObject({ groups: z.array(z.strictObject({ name: z.string(), rules: z.array(Alert) })) });
const Dashboard = z.object({
  uid: z.string(),
  panels: z.array(
    z.object({
      id: z.int(),
      title: z.string(),
      type: z.string(),
      gridPos: z.object({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
      targets: z
        .array(z.object({ expr: z.string(), datasource: z.object({ type: z.string(), uid: z.string() }) }))
        .default([]),
    }),
  ),
});

const filesIn = (path: string, ending: string) =>
  readdirSync(join(folder, path))
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, path, name));

export const ruleFiles = filesIn('prometheus/rules', '.yml');
export const alerts = ruleFiles
  .flatMap((file) => Rules.parse(parse(readFileSync(file, 'utf8'))).groups)
  .flatMap(({ rules }) => rules);
export const dashboards = filesIn('grafana/dashboards', '.json').map((file) =>
  Dashboard.parse(JSON.parse(readFileSync(file, 'utf8'))),
);
export const dataSources = filesIn('grafana/provisioning/datasources', '.yml').flatMap(
  (file) =>
    z.object({ datasources: z.array(z.object({ uid: z.string() })) }).parse(parse(readFileSync(file, 'utf8')))
      .datasources,
);

const Receiver = z.strictObject({
  name: z.string(),
  email_configs: z.array(z.object({ to: z.email() })).min(1),
});
const Route = z.object({ receiver: z.string(), matchers: z.array(z.string()).default([]) });
const Alertmanager = z.object({
  global: z.object({ smtp_smarthost: z.string() }),
  route: Route.extend({ routes: z.array(Route) }),
  receivers: z.array(Receiver),
});
export const alertmanagerFile = join(folder, 'alertmanager/alertmanager.yml');
export const alertmanager = Alertmanager.parse(parse(readFileSync(alertmanagerFile, 'utf8')));

const Targets = z.object({ static_configs: z.array(z.object({ targets: z.array(z.string()) })) });
/** The Alertmanagers of Prometheus, as `name:port`. */
export const alertmanagers = z
  .object({ alerting: z.object({ alertmanagers: z.array(Targets) }) })
  .parse(parse(readFileSync(join(folder, 'prometheus/prometheus.yml'), 'utf8')))
  .alerting.alertmanagers.flatMap(({ static_configs }) => static_configs.flatMap(({ targets }) => targets));

/** The containers of docker-compose.yml with their volumes. */
export const containers = z
  .object({ services: z.record(z.string(), z.object({ volumes: z.array(z.string()).default([]) })) })
  .parse(parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true })).services;

/** Replaces Grafana's variables, as Grafana does before it sends a query. */
const filledIn = (text: string) =>
  text.replaceAll('$__rate_interval', '1m').replaceAll('$__range', '30m').replaceAll(/\$\w+/g, 'any');

/** Every expression, with the name of its alert or panel. */
export const expressions: readonly (readonly [string, string])[] = [
  ...alerts.map(({ alert, expr }) => [alert, expr] as const),
  ...dashboards.flatMap(({ panels }) =>
    panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, filledIn(expr)] as const)),
  ),
];

/** The metrics in a PromQL expression. Throws if it is invalid. */
export function metricsIn(expression: string): Set<string> {
  const metrics = new Set<string>();
  parser.parse(expression).iterate({
    enter({ type, from, to }) {
      if (type.isError) throw new Error(`no PromQL at ${from}: ${expression}`);
      if (type.name === 'Identifier') metrics.add(expression.slice(from, to));
    },
  });
  return metrics;
}
