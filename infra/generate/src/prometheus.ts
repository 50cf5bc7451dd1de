import type { Service } from './services.ts';
import { fill } from './template.ts';
import { header, indented, inYaml, items } from './text.ts';

const runbook = 'docs/runbooks/process-missing.md';

/** A process that must be running. */
interface Program {
  readonly service: string;
  readonly role: string;
}

const programsOf = (services: readonly Service[]): Program[] => [
  { service: 'gateway', role: 'api' },
  { service: 'ingress', role: 'api' },
  ...services.flatMap(({ name }) => ['api', 'worker'].map((role) => ({ service: name, role }))),
];

const series = ({ service, role }: Program, more = '') =>
  `process_start_time_seconds{service="${service}", role="${role}"${more}}`;

/** Generates prometheus.yml, which names the processes to read metrics from. */
export function prometheusFile(template: string, services: readonly Service[]): string {
  return fill(template, {
    header: header(inYaml, 'infra/generate/templates/prometheus.yml'),
    'service processes': items(services.flatMap(({ name }) => [`${name}-api`, `${name}-worker`])),
  });
}

/** Generates the alert for a process that is not running. */
export function missingProcessesRule(services: readonly Service[]): string {
  const absent = programsOf(services).map((program) => `absent(${series(program)})`);
  return `${header(inYaml)}
groups:
  - name: missing processes
    rules:
      - alert: ProcessMissing
        expr: |
${indented(absent.join('\nor '), 10)}
        for: 2m
        labels: { severity: page }
        annotations:
          summary: 'No {{ $labels.role }} of {{ $labels.service }} is running'
          runbook: ${runbook}
`;
}

/** In the test, each process is down for this time, one after the other. */
const downMinutes = 5;
/** When the alert is expected, after a process has gone down. */
const alertMinutes = 3;

/** Generates the test of that alert, which takes down each process in turn. */
export function missingProcessesTest(services: readonly Service[]): string {
  const programs = programsOf(services);
  const minutes = downMinutes * (programs.length + 2);
  const given = programs.map((program, index) => {
    const downAt = downMinutes * (index + 1);
    // Up until `downAt`, then down, then up again. Without `stale` Prometheus would use the last value for five more minutes.
    const values = `1x${downAt - 1} stale _x${downMinutes - 2} 1x${minutes - downAt - downMinutes}`;
    return `- series: ${series(program, `, instance="${index}"`)}\n  values: ${values}`;
  });
  const expected = programs.map(
    ({ service, role }, index) => `- alertname: ProcessMissing
  eval_time: ${downMinutes * (index + 1) + alertMinutes}m
  exp_alerts:
    - exp_labels: { severity: page, service: ${service}, role: ${role} }
      exp_annotations:
        summary: No ${role} of ${service} is running
        runbook: ${runbook}`,
  );
  return `${header(inYaml)}
rule_files: [rules/missing-processes.yml]
evaluation_interval: 1m

tests:
  - name: each process is down for ${downMinutes} minutes, one after the other
    interval: 1m
    input_series:
${indented(given.join('\n'), 6)}
    alert_rule_test:
${indented(expected.join('\n'), 6)}
`;
}
