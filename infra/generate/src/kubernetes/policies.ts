import { behindIngress, type Caller, callersOf, callsOf, type Service } from '../services.ts';
import { header, indented, inYaml, listed, titled } from '../text.ts';

/** A network policy that opens one direction. */
interface Policy {
  readonly name: string;
  readonly comment: string;
  /** The roles of the service whose processes it selects. */
  readonly roles: readonly string[];
  readonly direction: 'ingress' | 'egress';
  /** The peers at the other end, as items of YAML. */
  readonly peers: string;
  readonly port: number | 'http';
}

const ingress: Caller = { name: 'ingress', roles: ['api'] };

/** Generates the network policy by which the ingress reaches the services with endpoints for devices. */
export const policyOfIngress = (services: readonly Service[]): string =>
  `${header(inYaml)}\n\n${written({
    name: 'ingress-to-services',
    comment: 'What devices ask for.',
    roles: ingress.roles,
    direction: 'egress',
    peers: behindIngress(services)
      .map((name) => podsOf({ name, roles: ['api'] }))
      .join('\n'),
    port: 'http',
  })}`;

/**
 * Generates the network policies that not every service needs: to the services that it calls, from those that call it, and
 * out of the cluster. Undefined if it needs none.
 */
export function policiesOf(service: Service, services: readonly Service[]): string | undefined {
  const behind = behindIngress(services).includes(service.name);
  const callers = [...callersOf(service, services), ...(behind ? [ingress] : [])];
  const policies = [
    ...callsOf(service).map(toCallee(service)),
    ...(service.deployment?.kubernetes?.egress ?? []).map(
      ({ name, why, roles, port }): Policy => ({
        name,
        comment: `${why}, anywhere but in our own networks.`,
        roles,
        direction: 'egress',
        peers: internet,
        port,
      }),
    ),
    ...(callers.length > 0 ? [fromCallers(service, callers)] : []),
  ];
  return policies.length === 0 ? undefined : `${header(inYaml)}\n\n${policies.map(written).join('---\n')}`;
}

const toCallee =
  ({ name: caller }: Service) =>
  ({ name, roles }: Caller): Policy => ({
    name: `to-${name}`,
    comment: `${titled(caller)}'s ${listed(roles)} ${roles.length > 1 ? 'call' : 'calls'} ${titled(name)} (docs/events.md).`,
    roles,
    direction: 'egress',
    peers: podsOf({ name, roles: ['api'] }),
    port: 'http',
  });

const fromCallers = ({ name }: Service, callers: readonly Caller[]): Policy => ({
  name: 'from-services',
  comment: `${listed(callers.map((caller) => titled(caller.name)))} ${callers.length > 1 ? 'call' : 'calls'} ${titled(name)} (docs/events.md).`,
  roles: ['api'],
  direction: 'ingress',
  peers: callers.map(podsOf).join('\n'),
  port: 'http',
});

/** Uses matchExpressions for peers, because kustomize adds the service's own label to every matchLabels of a policy. */
const podsOf = ({ name, roles }: Caller) => `- podSelector:
    matchExpressions:
      - key: app.kubernetes.io/name
        operator: In
        values: [${name}]
      - key: app.kubernetes.io/component
        operator: In
        values: [${roles.join(', ')}]`;

/** All addresses except those of our own networks. */
const internet = `- ipBlock:
    cidr: 0.0.0.0/0
    except: [10.0.0.0/8, 100.64.0.0/10, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16]`;

const written = ({ name, comment, roles, direction, peers, port }: Policy) => `# ${comment}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: ${name}
spec:
  podSelector:
${indented(selector(roles), 4)}
  policyTypes: [${titled(direction)}]
  ${direction}:
    - ${direction === 'ingress' ? 'from' : 'to'}:
${indented(peers, 8)}
      ports:
        - port: ${port}
`;

const selector = (roles: readonly string[]) =>
  roles.length === 1
    ? `matchLabels:\n  app.kubernetes.io/component: ${roles[0]}`
    : `matchLabels: {}
matchExpressions:
  - key: app.kubernetes.io/component
    operator: In
    values: [${roles.join(', ')}]`;
