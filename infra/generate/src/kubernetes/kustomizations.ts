import { addressSetting } from '@attribution/runtime';
import { behindGateway, behindIngress, callsOf, processRoleOf, type Service } from '../services.ts';
import { header, indented, inYaml, items, quoted } from '../text.ts';
import { policiesOf, policyOfIngress } from './policies.ts';
import { processPatch } from './process-patch.ts';

const folder = 'k8s/base/services';

/** The folder of the services' manifests. Everything in it is generated. */
export const servicesFolder = folder;

const address = (service: string) => `http://${service}-api`;

/** Generates a folder for each service, the list of them, and their addresses for the gateway and the ingress. Returns texts by path. */
export function kubernetesFiles(services: readonly Service[]): [string, string][] {
  return [
    [`${folder}/kustomization.yaml`, listOf(services)],
    ['k8s/base/gateway/upstreams.env', upstreams(behindGateway(services))],
    ['k8s/base/ingress/upstreams.env', upstreams(behindIngress(services))],
    ['k8s/base/ingress/services.yaml', policyOfIngress(services)],
    ...services.flatMap((service) => filesOf(service, services)),
  ];
}

function listOf(services: readonly Service[]): string {
  return `${header(inYaml)}
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
${indented(items(services.map(({ name }) => name)), 2)}
`;
}

function upstreams(names: readonly string[]): string {
  const lines = names.map((name) => `${addressSetting(name)}=${address(name)}`);
  return `${[header(inYaml), ...lines].join('\n')}\n`;
}

function filesOf(service: Service, services: readonly Service[]): [string, string][] {
  const network = policiesOf(service, services);
  const process = processPatch(service);
  const files: Record<string, string | undefined> = {
    'kustomization.yaml': kustomization(service, network !== undefined, process !== undefined),
    'network.yaml': network,
    'process.yaml': process,
  };
  return Object.entries(files).flatMap(([name, text]) =>
    text === undefined ? [] : [[`${folder}/${service.name}/${name}`, text] as [string, string]],
  );
}

function kustomization(service: Service, hasPolicies: boolean, hasPatch: boolean): string {
  const { name, deployment } = service;
  const literals = {
    SERVICE: name,
    ...Object.fromEntries(callsOf(service).map((other) => [addressSetting(other.name), address(other.name)])),
    ...deployment?.kubernetes?.environment,
  };
  const lines = Object.entries(literals).map(([variable, value]) => `${variable}=${value}`);
  const role = processRoleOf(service);
  const patches = [
    ...(role ? [processRolePatch(role)] : []),
    ...(hasPatch ? ['- path: process.yaml\n  target:\n    kind: Deployment'] : []),
    ...Object.entries(deployment?.kubernetes?.cpu ?? {}).map(([role, cpu]) => cpuPatch(role, cpu)),
  ];
  return `${header(inYaml)}
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namePrefix: ${name}-
labels:
  - pairs:
      app.kubernetes.io/name: ${name}
    includeSelectors: true
    includeTemplates: true
components:
  - ../../../parts/service
configMapGenerator:
  - name: settings
    literals:
${indented(items(lines), 6)}
${hasPolicies ? 'resources:\n  - network.yaml\n' : ''}${patches.length > 0 ? `patches:\n${indented(patches.join('\n'), 2)}\n` : ''}`;
}

const processRolePatch = (role: string) => `# The migration gives this role its rights: see the processes' DATABASE_URL.
- target:
    kind: Job
  patch: |-
    - op: add
      path: /spec/template/spec/containers/0/env/-
      value:
        name: DATABASE_PROCESS_ROLE
        value: ${role}`;

const cpuPatch = (role: string, { request, why }: { readonly request: string; readonly why: string }) => `# ${why}
- target:
    kind: Deployment
    name: ${role}
  patch: |-
    - op: replace
      path: /spec/template/spec/containers/0/resources/requests/cpu
      value: ${quoted(request)}`;
