import { describe, expect, test } from '@jest/globals';
import type { NetworkPolicy } from '../src/manifests.ts';
import { type Party, wayJudge } from '../src/network/allowed.ts';

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

const way = (from: Party, to: Party, port = 8080, protocol: 'TCP' | 'UDP' = 'TCP') => ({ from, to, port, protocol });

describe('whether policies let a connection through', () => {
  const cases: [string, boolean, ReturnType<typeof way>, Spec[]][] = [
    ['without a policy everything is open', true, way(shop, till), []],
    ['a policy for others changes nothing', true, way(shop, till), [{ ...ofShop, policyTypes: ['Ingress'] }]],
    ['what is selected and not named is shut', false, way(shop, till), [denyIn]],
    ['by default a policy is about what comes in', false, way(shop, till), [{ podSelector: {} }]],
    ['… and not about what goes out', true, way(till, outside), [{ podSelector: {} }]],
    ['… unless it says something of that', false, way(till, outside), [{ podSelector: {}, egress: [] }]],
    [
      'one policy that names the peer is enough',
      true,
      way(shop, till),
      [denyIn, { ...ofTill, ingress: [{ from: [ofShop] }] }],
    ],
    ['both sides must agree', false, way(shop, till), [denyAll, { ...ofTill, ingress: [{ from: [ofShop] }] }]],
    [
      '… and do',
      true,
      way(shop, till),
      [
        denyAll,
        { ...ofTill, ingress: [{ from: [ofShop] }] },
        { ...ofShop, policyTypes: ['Egress'], egress: [{ to: [ofTill] }] },
      ],
    ],
    [
      'a peer without a namespace is of our own',
      false,
      way(stranger, till),
      [denyIn, { ...ofTill, ingress: [{ from: [ofShop] }] }],
    ],
    [
      'a namespace is known by its name',
      true,
      way(stranger, till),
      [
        {
          ...ofTill,
          ingress: [{ from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'elsewhere' } } }] }],
        },
      ],
    ],
    [
      'any namespace, but that pod',
      false,
      way(pod('bar', 'elsewhere'), till),
      [{ ...ofTill, ingress: [{ from: [{ ...ofShop, namespaceSelector: {} }] }] }],
    ],
    ['no list of peers names everybody', true, way(stranger, till), [denyIn, { ...ofTill, ingress: [{}] }]],
    ['an empty one too', true, way(inside, till), [denyIn, { ...ofTill, ingress: [{ from: [] }] }]],
    [
      'a port that is not named is shut',
      false,
      way(shop, till, 22),
      [{ ...ofTill, ingress: [{ ports: [{ port: 8080 }] }] }],
    ],
    ['a port is known by its name', true, way(shop, till), [{ ...ofTill, ingress: [{ ports: [{ port: 'http' }] }] }]],
    [
      'a range of ports',
      true,
      way(shop, till, 9000),
      [{ ...ofTill, ingress: [{ ports: [{ port: 8000, endPort: 9000 }] }] }],
    ],
    [
      '… has an end',
      false,
      way(shop, till, 9001),
      [{ ...ofTill, ingress: [{ ports: [{ port: 8000, endPort: 9000 }] }] }],
    ],
    [
      'a protocol is TCP unless it is said',
      false,
      way(shop, till, 53, 'UDP'),
      [{ ...ofTill, ingress: [{ ports: [{ port: 53 }] }] }],
    ],
    [
      'addresses',
      true,
      way(till, outside, 443),
      [{ ...ofTill, policyTypes: ['Egress'], egress: [{ to: [internet] }] }],
    ],
    [
      '… but for some',
      false,
      way(till, inside, 443),
      [{ ...ofTill, policyTypes: ['Egress'], egress: [{ to: [internet] }] }],
    ],
    [
      'a block of addresses names no pod',
      false,
      way(till, shop),
      [{ ...ofTill, policyTypes: ['Egress'], egress: [{ to: [internet] }] }],
    ],
  ];

  test.each(cases)('%s', (_what, allowed, tried, specs) => {
    expect(wayJudge(specs.map(policy))(tried)).toBe(allowed);
  });
});
