import { label, literalOf, processesOf } from '../environment.ts';
import { type Manifest, type NetworkPolicy, ofKind, workloadsOf } from '../manifests.ts';
import { type Connection, type Party, policyFilter } from '../network/allowed.ts';
import { partiesNamedBy, portsNamedBy } from '../network/named.ts';
import { databaseOf, ownParties, strangers, surroundings } from '../network/parties.ts';
import { callsOf, gateway, ingress, reads, servicesOf } from '../programs.ts';
import type { Finding, Platform, Rule } from '../rule.ts';

const port = {
  http: 8080,
  devices: 8443,
  admin: 9464,
  postgres: 5432,
  kafka: 9092,
  redis: 6379,
  otlp: 4318,
  dns: 53,
  ssh: 22,
};

/** Where the mesh's control plane gives certificates, addresses and policies. */
const meshPorts = [8080, 8086, 8090];

/**
 * Checks every pair of parties on every port that may be in use: the connections that the code needs must be open, and all
 * others closed. A policy that allows too much is found by what it opens, however it is written.
 */
export const network: Rule = (platform) => {
  const policies = ofKind(platform.manifests, 'NetworkPolicy');
  const needed = neededConnections(platform);
  const candidates = allConnections(platform, policies);
  const open = new Set(candidates.filter(policyFilter(policies)).map(describe));
  return [
    ...[...open]
      .filter((connection) => !needed.has(connection))
      .map((connection) => finding(connection, 'is open, and nothing in the code needs it')),
    ...[...needed]
      .filter((connection) => !open.has(connection))
      .map((connection) => finding(connection, 'is closed, and the code needs it')),
  ];
};

const describe = ({ from, to, port: number, protocol }: Connection): string =>
  `${from.name} → ${to.name}, ${protocol} ${number}`;

const finding = (connection: string, fault: string): Finding => ({
  resource: 'NetworkPolicy',
  detail: `${connection}: ${fault}`,
});

function allConnections({ manifests, programs }: Platform, policies: readonly NetworkPolicy[]): Connection[] {
  const own = ownParties(manifests);
  const around = [...Object.values(surroundings), ...servicesOf(programs).map(databaseOf)];
  const unknown = partiesNamedBy(policies, [...own, ...around]);
  const others = [...around, ...strangers(own[0]?.pod?.namespace ?? ''), ...unknown];
  const pairs = [
    ...own.flatMap((from) => [...own, ...others].map((to) => ({ from, to }))),
    ...others.flatMap((from) => own.map((to) => ({ from, to }))),
  ].filter(({ from, to }) => from !== to);
  const outside = servicesOf(programs).flatMap((service) => programs.egressOf(service).map((egress) => egress.port));
  const ports = new Set([...Object.values(port), ...outside, ...portsNamedBy(policies)]);
  return pairs.flatMap((pair) => [
    ...[...ports].map((number): Connection => ({ ...pair, port: number, protocol: 'TCP' })),
    { ...pair, port: port.dns, protocol: 'UDP' as const },
  ]);
}

/** The connections that have to be open; no others may be. */
function neededConnections({ manifests, programs }: Platform): ReadonlySet<string> {
  const own = ownParties(manifests);
  const pods = (service: string, ...roles: readonly string[]) =>
    own.filter(({ pod }) => pod?.labels[label.service] === service && roles.includes(pod.labels[label.role] ?? ''));
  const calls = (from: readonly Party[], to: readonly Party[], number: number) => between(from, to, number, 'TCP');
  /** From the processes of a role to the services that they call. */
  const internalCalls = (service: string, role: string) =>
    calls(
      pods(service, role),
      callsOf(programs, service, role).flatMap((other) => pods(other, 'api')),
      port.http,
    );
  const gateways = pods(gateway, 'api');
  const ingresses = pods(ingress, 'api');
  const traced = tracedIn(manifests);
  const meshed = meshedIn(manifests);
  return new Set([
    ...calls([surroundings.ingress], gateways, port.http),
    ...calls([surroundings.prometheus], gateways, port.admin),
    ...internalCalls(gateway, 'api'),
    ...calls([surroundings.internet], ingresses, port.devices),
    ...calls([surroundings.prometheus], ingresses, port.http),
    ...internalCalls(ingress, 'api'),
    ...(reads(programs, gateway, 'REDIS_URL')
      ? calls([...gateways, ...ingresses], [surroundings.redis], port.redis)
      : []),
    ...servicesOf(programs).flatMap((service) => [
      ...calls([surroundings.prometheus], pods(service, 'api', 'worker'), port.http),
      ...calls(pods(service, 'api', 'worker', 'migrate'), [databaseOf(service)], port.postgres),
      ...calls(pods(service, 'worker'), [surroundings.kafka], port.kafka),
      ...internalCalls(service, 'api'),
      ...internalCalls(service, 'worker'),
      ...programs
        .egressOf(service)
        .flatMap((egress) => calls(pods(service, ...egress.roles), [surroundings.internet], egress.port)),
    ]),
    ...calls(
      own.filter(({ name }) => traced.has(name)),
      [surroundings.collector],
      port.otlp,
    ),
    ...meshPorts.flatMap((number) =>
      calls(
        own.filter(({ name }) => meshed.has(name)),
        [surroundings.mesh],
        number,
      ),
    ),
    ...between(own, [surroundings.dns], port.dns, 'UDP'),
    ...between(own, [surroundings.dns], port.dns, 'TCP'),
  ]);
}

/** The workloads that send spans. */
const tracedIn = (manifests: readonly Manifest[]): ReadonlySet<string> =>
  new Set(
    processesOf(manifests)
      .filter(({ environment }) => literalOf(environment.get('OTEL_EXPORTER_OTLP_ENDPOINT')) !== undefined)
      .map(({ workload }) => workload.metadata.name),
  );

/** The workloads whose pods have a proxy of the mesh. */
const meshedIn = (manifests: readonly Manifest[]): ReadonlySet<string> =>
  new Set(
    workloadsOf(manifests)
      .filter(({ spec }) => spec.template.metadata?.annotations?.['linkerd.io/inject'] === 'enabled')
      .map(({ metadata }) => metadata.name),
  );

const between = (
  from: readonly Party[],
  to: readonly Party[],
  number: number,
  protocol: Connection['protocol'],
): string[] => from.flatMap((one) => to.map((other) => describe({ from: one, to: other, port: number, protocol })));
