import { BlockList, isIPv4 } from 'node:net';
import { type Labels, type NetworkPolicy, type Peer, type PolicyPort, type Selector, selects } from '../manifests.ts';

/** One end of a connection: a pod, or an address outside the cluster. */
export interface Party {
  readonly name: string;
  /** Set for a pod. */
  readonly pod?: { readonly namespace: string; readonly labels: Labels; readonly namespaceLabels?: Labels };
  /** Set for anything else. */
  readonly ip?: string;
  /** The named ports of a pod. */
  readonly ports?: Readonly<Record<string, number>>;
}

export interface Connection {
  readonly from: Party;
  readonly to: Party;
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP';
}

/**
 * Returns a function that decides whether the policies allow a connection, as Kubernetes defines it: a pod that no policy
 * selects for a direction is open in that direction; otherwise one policy that names the peer and the port is enough.
 */
export function policyFilter(policies: readonly NetworkPolicy[]): (connection: Connection) => boolean {
  const [egress, ingress] = [policiesAbout('Egress', policies), policiesAbout('Ingress', policies)];
  return (connection) => {
    const [leaving, entering] = [egress(connection.from), ingress(connection.to)];
    const leaves = leaving.some(({ spec, metadata }) =>
      spec.egress?.some(({ to, ports }) => admits(ports, connection) && names(to, connection.to, metadata.namespace)),
    );
    const enters = entering.some(({ spec, metadata }) =>
      spec.ingress?.some(
        ({ from, ports }) => admits(ports, connection) && names(from, connection.from, metadata.namespace),
      ),
    );
    return (leaves || leaving.length === 0) && (enters || entering.length === 0);
  };
}

/** Finds the policies of a direction that select a party, and remembers them. */
function policiesAbout(type: string, policies: readonly NetworkPolicy[]): (party: Party) => readonly NetworkPolicy[] {
  const found = new Map<Party, readonly NetworkPolicy[]>();
  return (party) => {
    const known = found.get(party);
    if (known) return known;
    const own = policies.filter((policy) => typesOf(policy).includes(type) && judges(policy, party));
    found.set(party, own);
    return own;
  };
}

const judges = ({ metadata, spec }: NetworkPolicy, { pod }: Party): boolean =>
  pod !== undefined && pod.namespace === metadata.namespace && selects(spec.podSelector ?? {}, pod.labels);

const typesOf = ({ spec }: NetworkPolicy): readonly string[] =>
  spec.policyTypes ?? ['Ingress', ...(spec.egress ? ['Egress'] : [])];

/** A missing or empty list of peers names everybody. */
const names = (peers: readonly Peer[] | undefined, party: Party, namespace: string | undefined): boolean =>
  !peers?.length || peers.some((peer) => isNamed(peer, party, namespace));

function isNamed({ ipBlock, podSelector, namespaceSelector }: Peer, { pod, ip }: Party, namespace?: string): boolean {
  if (ipBlock) return ip !== undefined && within(ip, [ipBlock.cidr]) && !within(ip, ipBlock.except ?? []);
  if (!pod) return false;
  const there = namespaceSelector ? inNamespace(namespaceSelector, pod) : pod.namespace === namespace;
  return there && selects(podSelector ?? {}, pod.labels);
}

/** Kubernetes labels each namespace with its name. */
const inNamespace = (selector: Selector, { namespace, namespaceLabels }: NonNullable<Party['pod']>): boolean =>
  selects(selector, { ...namespaceLabels, 'kubernetes.io/metadata.name': namespace });

function within(ip: string, blocks: readonly string[]): boolean {
  const list = new BlockList();
  for (const block of blocks) {
    const [address = '', bits] = block.split('/');
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return list.check(ip, isIPv4(ip) ? 'ipv4' : 'ipv6');
}

/** A missing or empty list of ports admits all ports. */
const admits = (ports: readonly PolicyPort[] | undefined, { to, port, protocol }: Connection): boolean =>
  !ports?.length ||
  ports.some((admitted) => {
    if ((admitted.protocol ?? 'TCP') !== protocol) return false;
    if (admitted.port === undefined) return true;
    const first = typeof admitted.port === 'string' ? to.ports?.[admitted.port] : admitted.port;
    return first !== undefined && port >= first && port <= (admitted.endPort ?? first);
  });
