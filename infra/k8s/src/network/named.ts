import type { Labels, NetworkPolicy, Peer, PolicyPort, Selector } from '../manifests.ts';
import type { Party } from './allowed.ts';

const namespaceName = 'kubernetes.io/metadata.name';

/** A peer in a policy, and the policy's namespace. */
interface NamedPeer {
  readonly namespace: string;
  readonly peer: Peer;
}

const peersIn = (policies: readonly NetworkPolicy[]): NamedPeer[] =>
  policies.flatMap(({ metadata: { namespace = '' }, spec }) =>
    [...(spec.ingress ?? []).flatMap(({ from = [] }) => from), ...(spec.egress ?? []).flatMap(({ to = [] }) => to)].map(
      (peer) => ({ namespace, peer }),
    ),
  );

/**
 * Makes a party for each peer that policies name and that is none of the known parties, so that connections with peers
 * that nobody expected are checked too.
 */
export function partiesNamedBy(policies: readonly NetworkPolicy[], known: readonly Party[]): Party[] {
  const named = peersIn(policies).flatMap(partiesOf);
  const unknown = named.filter((party) => !known.some((other) => matches(other, party)));
  return [...new Map(unknown.map((party) => [party.name, party])).values()];
}

function partiesOf({ namespace: own, peer: { ipBlock, namespaceSelector, podSelector } }: NamedPeer): Party[] {
  if (ipBlock) return [{ name: ipBlock.cidr, ip: ipBlock.cidr.split('/')[0] ?? '' }];
  const namespaces = namespaceSelector ? labelsMatching(namespaceSelector) : [{ [namespaceName]: own }];
  return namespaces.flatMap(({ [namespaceName]: namespace = 'elsewhere', ...namespaceLabels }) =>
    labelsMatching(podSelector ?? {}).map((labels) => {
      const pairs = Object.entries({ ...namespaceLabels, ...labels }).map(([key, value]) => `${key}=${value}`);
      return { name: `${namespace}/${pairs.join(',') || 'any'}`, pod: { namespace, namespaceLabels, labels } };
    }),
  );
}

/** Sets of labels that a selector matches, one for each value that the selector lists. */
function labelsMatching({ matchLabels = {}, matchExpressions = [] }: Selector): Labels[] {
  let found: Labels[] = [matchLabels];
  for (const { key, operator, values = ['anything'] } of matchExpressions) {
    if (operator !== 'In' && operator !== 'Exists') continue;
    found = found.flatMap((labels) => values.map((value) => ({ ...labels, [key]: value })));
  }
  return found;
}

/** Whether a known party is the given one. Any known address outside stands for the whole internet. */
function matches(known: Party, party: Party): boolean {
  if (party.ip !== undefined) return known.ip !== undefined && (party.ip === known.ip || party.ip === '0.0.0.0');
  if (known.pod === undefined || party.pod === undefined) return false;
  const { labels, namespace } = known.pod;
  return (
    namespace === party.pod.namespace && Object.entries(party.pod.labels).every(([key, value]) => labels[key] === value)
  );
}

/** The ports that policies give by number. */
export const portsNamedBy = (policies: readonly NetworkPolicy[]): number[] =>
  policies
    .flatMap(({ spec }) => [...(spec.ingress ?? []), ...(spec.egress ?? [])])
    .flatMap(({ ports = [] }: { readonly ports?: readonly PolicyPort[] }) => ports)
    .flatMap(({ port, endPort }) => [port, endPort])
    .filter((port) => typeof port === 'number');
