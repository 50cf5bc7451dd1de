import type { Service } from './services.ts';
import { fill } from './template.ts';
import { header, indented, inYaml, items } from './text.ts';

const runbook = 'docs/runbooks/process-missing.md';

/** A process that has to be there. */
interface Program {
  readonly service: string;
  readonly role: string;
}

const programsOf = (services: readonly Service[]): Program[] => [
  { service: 'gateway', role: 'api' },
  ...services.flatMap(({ name }) => ['api', 'worker'].map((role) => ({ service: name, role }))),
];

const series = ({ service, role }: Program, more = '') =>
  `process_start_time_seconds{service="${service}", role="${role}"${more}}`;

/** prometheus.yml: whom it asks for metrics. */
export function prometheusFile(template: string, services: readonly Service[]): string {
  return fill(template, {
    header: header(inYaml, 'infra/generate/templates/prometheus.yml'),
    'service processes': items(services.flatMap(({ name }) => [`${name}-api`, `${name}-worker`])),
  });
}

/** The alert of a process of which there is none. */
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
          summary: 'No {{ $labels.role }} of {{ $labels.service }} is there'
          runbook: ${runbook}
`;
}

/** Minutes: how long each process is away in the test, one after the other; and until its alert is raised. */
const away = 5;
const raisedAfter = 3;

/** What proves of every process that it is missed when it alone is gone. */
export function missingProcessesTest(services: readonly Service[]): string {
  const programs = programsOf(services);
  const minutes = away * (programs.length + 2);
  const given = programs.map((program, index) => {
    const gone = away * (index + 1);
    // From 0 to `gone` - 1 it is there, then away, then there to the end. Without `stale` it would count for five minutes more.
    const values = `1x${gone - 1} stale _x${away - 2} 1x${minutes - gone - away}`;
    return `- series: ${series(program, `, instance="${index}"`)}\n  values: ${values}`;
  });
  const expected = programs.map(
    ({ service, role }, index) => `- alertname: ProcessMissing
  eval_time: ${away * (index + 1) + raisedAfter}m
  exp_alerts:
    - exp_labels: { severity: page, service: ${service}, role: ${role} }
      exp_annotations:
        summary: No ${role} of ${service} is there
        runbook: ${runbook}`,
  );
  return `${header(inYaml)}
rule_files: [rules/missing-processes.yml]
evaluation_interval: 1m

tests:
  - name: each process is away for ${away} minutes, one after the other
    interval: 1m
    input_series:
${indented(given.join('\n'), 6)}
    alert_rule_test:
${indented(expected.join('\n'), 6)}
`;
}
