import type { Labels, NetworkPolicy, Peer, PolicyPort, Selector } from '../manifests.ts';
import type { Party } from './allowed.ts';

const namespaceName = 'kubernetes.io/metadata.name';

interface Opening {
  readonly namespace: string;
  readonly peer: Peer;
}

const openingsOf = (policies: readonly NetworkPolicy[]): Opening[] =>
  policies.flatMap(({ metadata: { namespace = '' }, spec }) =>
    [...(spec.ingress ?? []).flatMap(({ from = [] }) => from), ...(spec.egress ?? []).flatMap(({ to = [] }) => to)].map(
      (peer) => ({ namespace, peer }),
    ),
  );

/**
 * One of each whom policies name, and who is none of the known: what nobody thought of is tried too, and stands out.
 */
export function partiesNamedBy(policies: readonly NetworkPolicy[], known: readonly Party[]): Party[] {
  const named = openingsOf(policies).flatMap(partiesOf);
  const strange = named.filter((party) => !known.some((other) => isOne(other, party)));
  return [...new Map(strange.map((party) => [party.name, party])).values()];
}

function partiesOf({ namespace: own, peer: { ipBlock, namespaceSelector, podSelector } }: Opening): Party[] {
  if (ipBlock) return [{ name: ipBlock.cidr, ip: ipBlock.cidr.split('/')[0] ?? '' }];
  const around = namespaceSelector ? labelsBy(namespaceSelector) : [{ [namespaceName]: own }];
  return around.flatMap(({ [namespaceName]: namespace = 'elsewhere', ...namespaceLabels }) =>
    labelsBy(podSelector ?? {}).map((labels) => {
      const says = Object.entries({ ...namespaceLabels, ...labels }).map(([key, value]) => `${key}=${value}`);
      return { name: `${namespace}/${says.join(',') || 'any'}`, pod: { namespace, namespaceLabels, labels } };
    }),
  );
}

/** Labels that a selector chooses: for each value that it lists, those of something that has it. */
function labelsBy({ matchLabels = {}, matchExpressions = [] }: Selector): Labels[] {
  let found: Labels[] = [matchLabels];
  for (const { key, operator, values = ['anything'] } of matchExpressions) {
    if (operator !== 'In' && operator !== 'Exists') continue;
    found = found.flatMap((labels) => values.map((value) => ({ ...labels, [key]: value })));
  }
  return found;
}

/** Whether a known party is such a one; every address outside stands for the whole internet. */
function isOne(known: Party, party: Party): boolean {
  if (party.ip !== undefined) return known.ip !== undefined && (party.ip === known.ip || party.ip === '0.0.0.0');
  if (known.pod === undefined || party.pod === undefined) return false;
  const { labels, namespace } = known.pod;
  return (
    namespace === party.pod.namespace && Object.entries(party.pod.labels).every(([key, value]) => labels[key] === value)
  );
}

/** The ports that policies say by number. */
export const portsNamedBy = (policies: readonly NetworkPolicy[]): number[] =>
  policies
    .flatMap(({ spec }) => [...(spec.ingress ?? []), ...(spec.egress ?? [])])
    .flatMap(({ ports = [] }: { readonly ports?: readonly PolicyPort[] }) => ports)
    .flatMap(({ port, endPort }) => [port, endPort])
    .filter((port) => typeof port === 'number');
