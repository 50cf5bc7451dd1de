import { label, literalOf, processesOf } from '../environment.ts';
import { type Manifest, type NetworkPolicy, ofKind } from '../manifests.ts';
import { type Party, type Way, wayJudge } from '../network/allowed.ts';
import { partiesNamedBy, portsNamedBy } from '../network/named.ts';
import { databaseOf, ownParties, strangers, surroundings } from '../network/parties.ts';
import { callsOf, gateway, type Programs, reads, servicesOf } from '../programs.ts';
import type { Finding, Platform, Rule } from '../rule.ts';

/** By variables that name what is outside: the port that it is reached on. */
const outside = { SMTP_URL: 587, STRIPE_SECRET_KEY: 443 };
const port = { http: 8080, admin: 9464, postgres: 5432, kafka: 9092, redis: 6379, otlp: 4318, dns: 53, ssh: 22 };

/**
 * Everybody is tried with everybody on every port that somebody might serve: what the code needs is open, and all else
 * is shut. So a policy that allows too much is found by what it opens, however it is written.
 */
export const network: Rule = (platform) => {
  const policies = ofKind(platform.manifests, 'NetworkPolicy');
  const { needed, useful } = waysOf(platform);
  const tried = allWays(platform, policies);
  const open = new Set(tried.filter(wayJudge(policies)).map(describe));
  return [
    ...[...open]
      .filter((way) => !useful.has(way))
      .map((way) => found(way, 'is open, and nothing in the code needs it')),
    ...[...needed].filter((way) => !open.has(way)).map((way) => found(way, 'is shut, and the code needs it')),
  ];
};

const describe = ({ from, to, port: number, protocol }: Way): string =>
  `${from.name} → ${to.name}, ${protocol} ${number}`;

const found = (way: string, what: string): Finding => ({ resource: 'NetworkPolicy', detail: `${way}: ${what}` });

function allWays({ manifests, programs }: Platform, policies: readonly NetworkPolicy[]): Way[] {
  const own = ownParties(manifests);
  const around = [...Object.values(surroundings), ...servicesOf(programs).map(databaseOf)];
  const unknown = partiesNamedBy(policies, [...own, ...around]);
  const others = [...around, ...strangers(own[0]?.pod?.namespace ?? ''), ...unknown];
  const pairs = [
    ...own.flatMap((from) => [...own, ...others].map((to) => ({ from, to }))),
    ...others.flatMap((from) => own.map((to) => ({ from, to }))),
  ].filter(({ from, to }) => from !== to);
  const ports = new Set([...Object.values(port), ...Object.values(outside), ...portsNamedBy(policies)]);
  return pairs.flatMap((pair) => [
    ...[...ports].map((number): Way => ({ ...pair, port: number, protocol: 'TCP' })),
    { ...pair, port: port.dns, protocol: 'UDP' as const },
  ]);
}

/** What has to be open, and what may be: which roles of a service call another one is its own matter. */
function waysOf({ manifests, programs }: Platform): { needed: Set<string>; useful: Set<string> } {
  const own = ownParties(manifests);
  const pods = (service: string, ...roles: string[]) =>
    own.filter(({ pod }) => pod?.labels[label.service] === service && roles.includes(pod.labels[label.role] ?? ''));
  const gateways = pods(gateway, 'api');
  const services = servicesOf(programs);
  const calls = (from: Party[], to: Party[], number: number) => ways(from, to, number, 'TCP');
  const traced = tracedIn(manifests);
  const needed = [
    ...calls([surroundings.ingress], gateways, port.http),
    ...calls([surroundings.prometheus], gateways, port.admin),
    ...calls(
      gateways,
      callsOf(programs, gateway).flatMap((service) => pods(service, 'api')),
      port.http,
    ),
    ...(reads(programs, gateway, 'REDIS_URL') ? calls(gateways, [surroundings.redis], port.redis) : []),
    ...services.flatMap((service) => [
      ...calls([surroundings.prometheus], pods(service, 'api', 'worker'), port.http),
      ...calls(pods(service, 'api', 'worker', 'migrate'), [databaseOf(service)], port.postgres),
      ...calls(pods(service, 'worker'), [surroundings.kafka], port.kafka),
      ...calls(pods(service, 'worker'), calleesOf(service), port.http),
      ...outsideOf(service, programs).flatMap((number) =>
        calls(pods(service, 'worker'), [surroundings.internet], number),
      ),
    ]),
    ...calls(
      own.filter(({ name }) => traced.has(name)),
      [surroundings.collector],
      port.otlp,
    ),
    ...ways(own, [surroundings.dns], port.dns, 'UDP'),
    ...ways(own, [surroundings.dns], port.dns, 'TCP'),
  ];
  const useful = services.flatMap((service) => [
    ...calls(pods(service, 'api'), calleesOf(service), port.http),
    ...outsideOf(service, programs).flatMap((number) => calls(pods(service, 'api'), [surroundings.internet], number)),
  ]);
  return { needed: new Set(needed), useful: new Set([...needed, ...useful]) };

  function calleesOf(service: string): Party[] {
    return callsOf(programs, service).flatMap((other) => pods(other, 'api'));
  }
}

/** The workloads that are told where spans go. */
const tracedIn = (manifests: readonly Manifest[]): ReadonlySet<string> =>
  new Set(
    processesOf(manifests)
      .filter(({ environment }) => literalOf(environment.get('OTEL_EXPORTER_OTLP_ENDPOINT')) !== undefined)
      .map(({ workload }) => workload.metadata.name),
  );

const outsideOf = (service: string, programs: Programs): number[] =>
  Object.entries(outside).flatMap(([variable, number]) => (reads(programs, service, variable) ? [number] : []));

const ways = (from: readonly Party[], to: readonly Party[], number: number, protocol: Way['protocol']): string[] =>
  from.flatMap((one) => to.map((other) => describe({ from: one, to: other, port: number, protocol })));
