import { literalOf, type Process, processesOf, type Source } from '../environment.ts';
import { nameOf } from '../manifests.ts';
import type { Programs } from '../programs.ts';
import type { Finding, Rule } from '../rule.ts';

/** Each container's environment is what its program reads: nothing more, nothing less, and of values that it takes. */
export const environment: Rule = ({ manifests, programs }) =>
  processesOf(manifests).flatMap((process) => {
    const resource = nameOf(process.workload);
    return [...misnamed(process), ...unreachable(process), ...unfit(process, programs)].map(
      (detail): Finding => ({ resource, detail }),
    );
  });

/** What a pod is labelled is what policies and budgets take it for. */
function misnamed({ environment, service, role }: Process): string[] {
  const told = { SERVICE: service, ROLE: role };
  return Object.entries(told).flatMap(([variable, labelled]) => {
    const value = literalOf(environment.get(variable));
    return value === labelled ? [] : [`is labelled ${labelled || 'nothing'}, and runs ${variable}=${value ?? ''}`];
  });
}

/** By itself a process listens for its own machine alone, where no probe comes from. */
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
  const told: Record<string, string> = {};
  for (const [name, source] of process.environment) {
    const value = assumed(name, source, process, programs.samples);
    if (value === undefined) unknown.push(`${name}: ${whyUnknown(source)}`);
    else told[name] = value;
  }
  const named = new Set(unknown.map((line) => line.split(':')[0]));
  return [...unknown, ...programs.faultsIn(told).filter((fault) => !named.has(fault.split(':')[0]))];
}

/** The value, or of a secret one that it might have. */
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
  if ('secret' in source)
    return 'comes from a secret, and its setting has no `.meta({ example })`: what does such a value look like?';
  return `names a file, and no secret is mounted there`;
}
