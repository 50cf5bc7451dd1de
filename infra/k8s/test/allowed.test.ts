import { describe, expect, test } from '@jest/globals';
import type { NetworkPolicy } from '../src/manifests.ts';
import { type Party, policyFilter } from '../src/network/allowed.ts';

const pod = (name: string, namespace = 'ours'): Party => ({
  name,
  pod: { namespace, labels: { app: name } },
  ports: { http: 8080 },
});
const [shop, till, stranger] = [pod('shop'), pod('till'), pod('shop', 'elsewhere')];
const outside: Party = { name: 'outside', ip: '203.0.113.9' };
const inside: Party = { name: 'inside', ip: '10.1.2.3' };

type Spec = NetworkPolicy['spec'];
const policy = (spec: Spec): NetworkPolicy => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'policy', namespace: 'ours' },
  spec,
});
const ofShop = { podSelector: { matchLabels: { app: 'shop' } } };
const ofTill = { podSelector: { matchLabels: { app: 'till' } } };
const denyAll: Spec = { podSelector: {}, policyTypes: ['Ingress', 'Egress'] };
const denyIn: Spec = { podSelector: {}, policyTypes: ['Ingress'] };
const internet = { ipBlock: { cidr: '0.0.0.0/0', except: ['10.0.0.0/8'] } };

const connection = (from: Party, to: Party, port = 8080, protocol: 'TCP' | 'UDP' = 'TCP') => ({
  from,
  to,
  port,
  protocol,
});

describe('whether policies allow a connection', () => {
  const cases: [string, boolean, ReturnType<typeof connection>, Spec[]][] = [
    ['without a policy everything is open', true, connection(shop, till), []],
    ['a policy for others changes nothing', true, connection(shop, till), [{ ...ofShop, policyTypes: ['Ingress'] }]],
    ['a selected pod is closed to peers that no policy names', false, connection(shop, till), [denyIn]],
    ['by default a policy is about incoming connections', false, connection(shop, till), [{ podSelector: {} }]],
    ['… and not about outgoing ones', true, connection(till, outside), [{ podSelector: {} }]],
    ['… unless it has egress rules', false, connection(till, outside), [{ podSelector: {}, egress: [] }]],
    [
      'one policy that names the peer is enough',
      true,
      connection(shop, till),
      [denyIn, { ...ofTill, ingress: [{ from: [ofShop] }] }],
    ],
    ['both sides must agree', false, connection(shop, till), [denyAll, { ...ofTill, ingress: [{ from: [ofShop] }] }]],
    [
      '… and do',
      true,
      connection(shop, till),
      [
        denyAll,
        { ...ofTill, ingress: [{ from: [ofShop] }] },
        { ...ofShop, policyTypes: ['Egress'], egress: [{ to: [ofTill] }] },
      ],
    ],
    [
      "a peer without a namespace selector is in the policy's own namespace",
      false,
      connection(stranger, till),
      [denyIn, { ...ofTill, ingress: [{ from: [ofShop] }] }],
    ],
    [
      'a namespace can be selected by its name',
      true,
      connection(stranger, till),
      [
        {
          ...ofTill,
          ingress: [{ from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'elsewhere' } } }] }],
        },
      ],
    ],
    [
      'a peer of any namespace must still match the pod selector',
      false,
      connection(pod('bar', 'elsewhere'), till),
      [{ ...ofTill, ingress: [{ from: [{ ...ofShop, namespaceSelector: {} }] }] }],
    ],
    [
      'a missing list of peers names everybody',
      true,
      connection(stranger, till),
      [denyIn, { ...ofTill, ingress: [{}] }],
    ],
    ['an empty one too', true, connection(inside, till), [denyIn, { ...ofTill, ingress: [{ from: [] }] }]],
    [
      'a port that is not listed is closed',
      false,
      connection(shop, till, 22),
      [{ ...ofTill, ingress: [{ ports: [{ port: 8080 }] }] }],
    ],
    [
      'a port can be given by its name',
      true,
      connection(shop, till),
      [{ ...ofTill, ingress: [{ ports: [{ port: 'http' }] }] }],
    ],
    [
      'a range of ports is open',
      true,
      connection(shop, till, 9000),
      [{ ...ofTill, ingress: [{ ports: [{ port: 8000, endPort: 9000 }] }] }],
    ],
    [
      '… up to its end',
      false,
      connection(shop, till, 9001),
      [{ ...ofTill, ingress: [{ ports: [{ port: 8000, endPort: 9000 }] }] }],
    ],
    [
      'the protocol is TCP unless another is given',
      false,
      connection(shop, till, 53, 'UDP'),
      [{ ...ofTill, ingress: [{ ports: [{ port: 53 }] }] }],
    ],
    [
      'a block of addresses is open',
      true,
      connection(till, outside, 443),
      [{ ...ofTill, policyTypes: ['Egress'], egress: [{ to: [internet] }] }],
    ],
    [
      '… except for the listed parts',
      false,
      connection(till, inside, 443),
      [{ ...ofTill, policyTypes: ['Egress'], egress: [{ to: [internet] }] }],
    ],
    [
      'a block of addresses names no pod',
      false,
      connection(till, shop),
      [{ ...ofTill, policyTypes: ['Egress'], egress: [{ to: [internet] }] }],
    ],
  ];

  test.each(cases)('%s', (_what, allowed, tried, specs) => {
    expect(policyFilter(specs.map(policy))(tried)).toBe(allowed);
  });
});
