import { label, literalOf, processesOf } from '../environment.ts';
import { type Manifest, nameOf, ofKind, podLabels, type Service, selects, workloadsOf } from '../manifests.ts';
import { reads } from '../programs.ts';
import type { Finding, Platform, Rule } from '../rule.ts';

/** Everything that a manifest refers to exists: services and their ports, scaled workloads, and addresses. */
export const references: Rule = (platform) => [
  ...ofServices(platform.manifests),
  ...ofIngresses(platform.manifests),
  ...ofAutoscalers(platform.manifests),
  ...ofAddresses(platform),
];

/** A port of a service must lead to a port of its pods. */
function ofServices(manifests: readonly Manifest[]): Finding[] {
  return ofKind(manifests, 'Service').flatMap((service) => {
    const behind = workloadsOf(manifests).filter((workload) =>
      selects({ matchLabels: service.spec.selector ?? {} }, podLabels(workload)),
    );
    const open = behind.flatMap(({ spec }) => spec.template.spec.containers.flatMap(({ ports = [] }) => ports));
    return (service.spec.ports ?? [])
      .map(({ port, targetPort = port }) => targetPort)
      .filter((target) => !open.some(({ name, containerPort }) => target === name || target === containerPort))
      .map((target) => ({ resource: nameOf(service), detail: `no pod behind it has the port ${target}` }));
  });
}

const servicesBy = (manifests: readonly Manifest[]) =>
  new Map(ofKind(manifests, 'Service').map((service) => [service.metadata.name, service]));

const hasPort = (service: Service | undefined, wanted: string | number | undefined): boolean =>
  service?.spec.ports?.some(({ name, port }) => wanted === name || wanted === port) ?? false;

function ofIngresses(manifests: readonly Manifest[]): Finding[] {
  const services = servicesBy(manifests);
  return ofKind(manifests, 'Ingress').flatMap((ingress) => {
    const { rules = [], tls = [] } = ingress.spec;
    const resource = nameOf(ingress);
    const secured = new Set(tls.flatMap(({ hosts = [] }) => hosts));
    const backends = rules.flatMap(({ http }) => http?.paths.map(({ backend }) => backend.service) ?? []);
    return [
      ...rules
        .filter(({ host }) => host === undefined || !secured.has(host))
        .map(({ host }) => ({ resource, detail: `${host ?? 'any host'} is served without a certificate of its own` })),
      ...backends
        .filter((backend) => !hasPort(services.get(backend?.name ?? ''), backend?.port.name ?? backend?.port.number))
        .map((backend) => ({
          resource,
          detail: `leads to ${backend?.name ?? 'nothing'}, and no such service and port is there`,
        })),
    ];
  });
}

function ofAutoscalers(manifests: readonly Manifest[]): Finding[] {
  return ofKind(manifests, 'HorizontalPodAutoscaler')
    .filter(({ spec: { scaleTargetRef: target } }) =>
      manifests.every(({ kind, metadata }) => kind !== target.kind || metadata.name !== target.name),
    )
    .map((autoscaler) => ({
      resource: nameOf(autoscaler),
      detail: `scales ${autoscaler.spec.scaleTargetRef.name}, which is not there`,
    }));
}

/** `ACCOUNT_URL` must be the address of the Kubernetes service of Account's api. */
function ofAddresses({ manifests, programs }: Platform): Finding[] {
  const services = servicesBy(manifests);
  return processesOf(manifests).flatMap(({ workload, environment, service: own }) =>
    programs.names.flatMap((name) => {
      const variable = `${name.toUpperCase()}_URL`;
      const value = literalOf(environment.get(variable));
      if (value === undefined || name === own || !reads(programs, own, variable) || !URL.canParse(value)) return [];
      const { protocol, hostname, port } = new URL(value);
      const service = services.get(hostname);
      const led = selects(
        { matchLabels: service?.spec.selector ?? {} },
        { [label.service]: name, [label.role]: 'api' },
      );
      const good = protocol === 'http:' && led && hasPort(service, Number(port || 80));
      return good ? [] : [{ resource: nameOf(workload), detail: `${variable} leads to no service of ${name}'s api` }];
    }),
  );
}
