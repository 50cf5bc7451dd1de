import { describe, expect, test } from '@jest/globals';
import { environmentOf } from '../src/environment.ts';
import { type Container, type Manifest, type Selector, selects } from '../src/manifests.ts';
import { callsOf, type Programs, reads } from '../src/programs.ts';
import { mebibytes } from '../src/rules/heap.ts';
import { isPinned } from '../src/rules/images.ts';
import { looksSecret } from '../src/rules/secrets.ts';

describe('whether an image is pinned', () => {
  const digest = `sha256:${'0f'.repeat(32)}`;
  test.each([
    ['platform:1.2.3', true],
    ['platform:v1.2.3-rc.1', true],
    ['registry.example:5000/platform:1.2.3', true],
    [`platform@${digest}`, true],
    [`platform:1.2.3@${digest}`, true],
    ['platform:sha-0a1b2c3', true],
    ['platform', false],
    ['registry.example:5000/platform', false],
    ['platform:latest', false],
    ['platform:1', false],
    ['platform:1.2', false],
    ['platform:main', false],
    ['platform@sha256:0f', false],
    ['', false],
  ])('%s: %s', (image, pinned) => {
    expect(isPinned(image)).toBe(pinned);
  });
});

describe('an amount of memory', () => {
  test.each([
    ['512Mi', 512],
    ['1.5Gi', 1536],
    ['1048576Ki', 1024],
    ['536870912', 512],
    ['1G', 1e9 / 2 ** 20],
    ['512Mb', undefined],
    ['', undefined],
  ])('%s: %s MiB', (quantity, size) => {
    expect(mebibytes(quantity)).toBe(size);
  });
});

describe('whether a value looks like a secret', () => {
  test.each([
    ['postgresql://me:hush@database/name', true],
    ['redis://:hush@redis:6379', true],
    [['sk', 'live', '0123456789'].join('_'), true],
    [['whsec', '0123456789'].join('_'), true],
    ['-----BEGIN EC PRIVATE KEY-----', true],
    ['{"keys":[{"kty":"EC","d":"AQAB"}]}', true],
    ['{"keys":[{"kty":"EC","x":"AQAB"}]}', false],
    ['https://app.attribution.example', false],
    ['http://account-api:8080/a:b@c', false],
    ['Attribution Platform <no-reply@attribution.example>', false],
    ['/keys/token-private/keys.json', false],
    ['kafka-0.kafka:9092,kafka-1.kafka:9092', false],
  ])('%s: %s', (value, secret) => {
    expect(looksSecret(value)).toBe(secret);
  });
});

describe('whether a selector matches', () => {
  const labels = { app: 'shop', tier: 'front' };
  const expression = (key: string, operator: string, ...values: string[]): Selector => ({
    matchExpressions: [{ key, operator, values }],
  });
  const cases: [Selector, boolean][] = [
    [{}, true],
    [{ matchLabels: { app: 'shop' } }, true],
    [{ matchLabels: { app: 'shop', tier: 'back' } }, false],
    [expression('app', 'In', 'bar', 'shop'), true],
    [expression('app', 'In', 'bar'), false],
    [expression('app', 'NotIn', 'bar'), true],
    [expression('zone', 'NotIn', 'bar'), true],
    [expression('zone', 'In', 'bar'), false],
    [expression('app', 'Exists'), true],
    [expression('app', 'DoesNotExist'), false],
    [{ matchLabels: { app: 'shop' }, ...expression('tier', 'In', 'back') }, false],
  ];
  test.each(cases)('%j: %s', (selector, chosen) => {
    expect(selects(selector, labels)).toBe(chosen);
  });
});

describe("a container's environment", () => {
  const map = (name: string, data: Record<string, string>): Manifest => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data,
  });
  const maps = [map('first', { A: '1', B: '1' }), map('second', { B: '2' })];
  const cases: [string, Omit<Container, 'name'>, Record<string, unknown>][] = [
    ['nothing', {}, {}],
    ['a later map wins', { envFrom: from('first', 'second') }, { A: one('1', 'first'), B: one('2', 'second') }],
    ['a variable wins over maps', { envFrom: from('second'), env: [{ name: 'B', value: '3' }] }, { B: { value: '3' } }],
    ['a map that is not there', { envFrom: from('third') }, { '*': { missing: 'ConfigMap/third' } }],
    [
      'references',
      {
        env: [
          { name: 'S', valueFrom: { secretKeyRef: { name: 'safe', key: 'k' } } },
          { name: 'A', valueFrom: { configMapKeyRef: { name: 'first', key: 'A' } } },
          { name: 'C', valueFrom: { configMapKeyRef: { name: 'first', key: 'C' } } },
        ],
      },
      { S: { secret: 'safe', key: 'k' }, A: one('1', 'first'), C: { missing: 'ConfigMap/first, key C' } },
    ],
  ];
  test.each(cases)('%s', (_what, container, expected) => {
    expect(Object.fromEntries(environmentOf({ name: 'one', ...container }, maps))).toEqual(expected);
  });

  function from(...names: string[]) {
    return names.map((name) => ({ configMapRef: { name } }));
  }
  function one(value: string, configMap: string) {
    return { value, configMap };
  }
});

describe('what the code declares about its programs', () => {
  /** The variables that each process reads. */
  const read: Readonly<Record<string, { readonly required: string[]; readonly optional?: string[] }>> = {
    'gateway api': { required: ['SHOP_URL', 'TILL_URL'] },
    'shop api': { required: [], optional: ['TILL_URL', 'SHOP_URL'] },
    'shop worker': { required: ['TILL_URL'], optional: ['SHOP_URL'] },
  };
  const programs: Programs = {
    names: ['gateway', 'shop', 'till'],
    faultsIn: ({ SERVICE = '', ROLE = '', ...environment }) => {
      const { required = [], optional = [] } = read[`${SERVICE} ${ROLE}`] ?? {};
      const unread = Object.keys(environment).filter((name) => ![...required, ...optional].includes(name));
      return [
        ...unread.map((name) => `${name}: this process does not read it`),
        ...required.filter((name) => environment[name] === undefined).map((name) => `${name}: is missing`),
      ];
    },
    egressOf: () => [],
    samples: {},
  };

  test('whether a service reads a variable', () => {
    expect([reads(programs, 'shop', 'TILL_URL'), reads(programs, 'till', 'SHOP_URL')]).toEqual([true, false]);
  });

  test('which other services each of its processes calls', () => {
    const calls = (service: string, role: string) => callsOf(programs, service, role);
    expect(calls('gateway', 'api')).toEqual(['shop', 'till']);
    expect([calls('shop', 'api'), calls('shop', 'worker'), calls('till', 'worker')]).toEqual([[], ['till'], []]);
  });
});
