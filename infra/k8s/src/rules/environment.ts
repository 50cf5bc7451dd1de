import { literalOf, type Process, processesOf, type Source } from '../environment.ts';
import { nameOf } from '../manifests.ts';
import type { Programs } from '../programs.ts';
import type { Finding, Rule } from '../rule.ts';

/** Each container's environment has exactly the variables that its program reads, with valid values. */
export const environment: Rule = ({ manifests, programs }) =>
  processesOf(manifests).flatMap((process) => {
    const resource = nameOf(process.workload);
    return [...misnamed(process), ...unreachable(process), ...unfit(process, programs)].map(
      (detail): Finding => ({ resource, detail }),
    );
  });

/** The labels of a pod must agree with what it runs, because policies and disruption budgets select by labels. */
function misnamed({ environment, service, role }: Process): string[] {
  const labels = { SERVICE: service, ROLE: role };
  return Object.entries(labels).flatMap(([variable, labelled]) => {
    const value = literalOf(environment.get(variable));
    return value === labelled ? [] : [`is labelled ${labelled || 'nothing'}, and runs ${variable}=${value ?? ''}`];
  });
}

/** By default a process listens on the loopback address, which probes cannot reach. */
function unreachable({ environment, container }: Process): string[] {
  const port = container.ports?.find(({ name }) => name === 'http')?.containerPort;
  if (port === undefined) return [];
  const host = literalOf(environment.get('HOST'));
  return [
    ...(host === '0.0.0.0' || host === '::' ? [] : ['HOST must be 0.0.0.0: probes and requests come from outside']),
    ...(literalOf(environment.get('PORT')) === String(port) ? [] : [`PORT must be ${port}, as its port http is`]),
  ];
}

function unfit(process: Process, programs: Programs): string[] {
  const unknown: string[] = [];
  const known: Record<string, string> = {};
  for (const [name, source] of process.environment) {
    const value = assumed(name, source, process, programs.samples);
    if (value === undefined) unknown.push(`${name}: ${whyUnknown(source)}`);
    else known[name] = value;
  }
  const reported = new Set(unknown.map((line) => line.split(':')[0]));
  return [...unknown, ...programs.faultsIn(known).filter((fault) => !reported.has(fault.split(':')[0]))];
}

/** The value of a variable, or for a secret a valid example. */
function assumed(
  name: string,
  source: Source,
  { container, workload }: Process,
  samples: Programs['samples'],
): string | undefined {
  if ('secret' in source) return samples[name];
  const value = literalOf(source);
  if (!value?.startsWith('/') || samples[name] === undefined) return value;
  const secrets = new Set(workload.spec.template.spec.volumes?.filter(({ secret }) => secret).map(({ name }) => name));
  const mounted = container.volumeMounts?.some(
    ({ name: volume, mountPath }) => secrets.has(volume) && value.startsWith(`${mountPath}/`),
  );
  return mounted ? samples[name] : undefined;
}

function whyUnknown(source: Source): string {
  if ('missing' in source) return `comes from ${source.missing}, which is not there`;
  if ('secret' in source) return 'comes from a secret, and its setting has no `.meta({ example })` to check with';
  return `names a file, and no secret is mounted there`;
}
